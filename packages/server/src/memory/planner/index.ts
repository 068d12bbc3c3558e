export type { Booking } from "./book.js";
export {
  type Budget,
  type Budgets,
  type BudgetTerms,
  budgetsOf,
  unaccountedOn,
} from "./budgets.js";
export { type Keeping, whyNotKept } from "./keeping.js";
export { plan } from "./plan.js";
export { reloadMs } from "./price.js";
export type {
  Costs,
  Hold,
  ModelCost,
  Plan,
  Refusal,
  Resident,
  Shortage,
  Victim,
  Wanted,
} from "./terms.js";

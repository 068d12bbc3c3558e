import { Book, type Booking } from "../planner/book.js";
import type { Budgets } from "../planner/budgets.js";

/** Host memory that is not booked, within the narrower of its limits; bytes, 0 at least. */
export function freeHostBytes(budgets: Budgets, bookings: readonly Booking[]): number {
  return Math.max(0, new Book(budgets, bookings, { artifact: "", artifactBytes: 0 }).freeHost);
}

import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  type InjectOptions,
  type LightMyRequestResponse,
} from "fastify";
import type { Logger } from "../observe/index.js";
import { type Answers, createAnswers } from "./answer.js";
import { type Checks, createChecks } from "./checks.js";
import { createDocs } from "./docs.js";
import { SomnusError, toSomnusError } from "./errors.js";
import { Exchange, LONGEST_TIMER_MS } from "./exchange.js";
import { fromFramework } from "./framework-error.js";
import { createGuard } from "./guard.js";
import { createKeyRing, type KeySettings } from "./keys.js";
import { type Listeners, listenOn, reachableHosts } from "./listen.js";
import { ListenError } from "./listen-error.js";
import { createOrigins } from "./origin.js";
import { createPathMethods } from "./path-methods.js";
import { readJsonBody } from "./read-body.js";
import { newRequestId } from "./request-id.js";
import type { Method, Route } from "./route.js";
import { RouteCall } from "./route-call.js";
import { drain, Running } from "./shutdown.js";
import type { StreamTiming } from "./sse.js";
import type { Staging } from "./staging.js";
import { AJV_OPTIONS, fromValidator, validationSchemas } from "./validation.js";
import type { ErrorWriter } from "./write-error.js";

declare module "fastify" {
  interface FastifyRequest {
    exchange: Exchange;
  }
}

/** The settings of a door, spelled as in the configuration's `[server]`. */
export interface DoorServerSettings {
  readonly host: string | readonly string[];
  readonly port: number;
  readonly api_keys: readonly string[];
  readonly keys: readonly KeySettings[];
  readonly allow_unauthenticated: boolean;
  readonly allowed_hosts: readonly string[];
  readonly allowed_origins: readonly string[];
}

/** The limits of a door, spelled as in the configuration's `[limits]`. */
export interface DoorLimits {
  readonly max_body_bytes: number;
  readonly request_timeout_secs: number;
}

export interface DoorOptions {
  /** For the log. */
  readonly name: string;
  /** The product's version, for the OpenAPI document. */
  readonly version: string;
  /** The table; the routes that document it are added by the door. */
  readonly routes: readonly Route[];
  readonly server: DoorServerSettings;
  readonly limits: DoorLimits;
  readonly writeError: ErrorWriter;
  readonly log: Logger;
  /** What staging is at; null once the models can be served. Asked on every request that needs them. */
  readonly staging: () => Staging | null;
  /** Times of streams in milliseconds, other than the usual ones. */
  readonly streams?: Partial<StreamTiming>;
}

/** A listener with its contract: routes, keys, limits and errors of one kind. */
export interface Door {
  readonly name: string;
  /** Whether {@link Door.close} has been called. */
  readonly draining: boolean;
  /** Every route of the OpenAPI document, as it stands in the table. */
  routes(): readonly { readonly method: Method; readonly path: string }[];
  /** Answers a request without a socket. */
  inject(request: InjectOptions | string): Promise<LightMyRequestResponse>;
  /**
   * Opens the listeners.
   * @throws ListenError when that fails, or would let everybody in without a key
   */
  listen(): Promise<{ readonly urls: readonly string[] }>;
  /**
   * Refuses new requests at once, lets running ones go on for `drainMs`, then ends them. Resolves
   * at most two seconds after that.
   */
  close(how?: { drainMs?: number }): Promise<void>;
}

const HEAD_MS = 10_000;
const COMMENT_MS = 10_000;
/** Longer than any model id, percent-encoded. */
const MAX_PARAM_LENGTH = 4_096;

/** Builds a door; nothing listens before {@link Door.listen}. */
export async function createDoor(options: DoorOptions): Promise<Door> {
  const door = new FastifyDoor(options);
  await door.app.ready();
  return door;
}

class FastifyDoor implements Door {
  readonly name: string;
  readonly app: FastifyInstance;
  readonly #options: DoorOptions;
  readonly #routes: readonly Route[];
  readonly #assets: readonly Route[];
  readonly #running = new Running();
  readonly #checks: Checks;
  readonly #answers: Answers;
  readonly #hasKeys: boolean;
  readonly #timeoutMs: number;
  readonly #isDraining = () => this.draining;
  #listeners: Listeners | null = null;
  #closed: Promise<void> | null = null;

  constructor(options: DoorOptions) {
    const { name, version, server, limits, staging, writeError, log } = options;
    this.name = name;
    this.#options = options;
    this.#timeoutMs = Math.min(Math.ceil(limits.request_timeout_secs * 1000), LONGEST_TIMER_MS);
    const keys = createKeyRing(server.api_keys, server.keys);
    this.#hasKeys = keys.required;
    const docs = createDocs({
      title: `Somnus, ${name} door`,
      version,
      routes: options.routes,
      keyed: keys.required,
    });
    this.#routes = [...options.routes, ...docs.routes];
    this.#assets = docs.assets;
    const origins = createOrigins(server.allowed_origins);
    this.#checks = createChecks({
      guard: createGuard(server.allowed_hosts, origins),
      origins,
      keys,
      paths: createPathMethods([...this.#routes, ...this.#assets]),
      draining: this.#isDraining,
      staging,
    });
    const streams = {
      head: HEAD_MS,
      comment: COMMENT_MS,
      stall: this.#timeoutMs,
      ...options.streams,
    };
    this.#answers = createAnswers(writeError, streams, this.#isDraining, log);
    this.app = this.#build();
  }

  get draining(): boolean {
    return this.#closed !== null;
  }

  routes() {
    return this.#routes.map(({ method, path }) => ({ method, path }));
  }

  inject(request: InjectOptions | string): Promise<LightMyRequestResponse> {
    return this.app.inject(request);
  }

  async listen(): Promise<{ readonly urls: readonly string[] }> {
    const { server, writeError, log } = this.#options;
    const reachable = reachableHosts(server.host);
    if (reachable.length > 0 && !this.#hasKeys && !server.allow_unauthenticated) {
      throw new ListenError(
        "UNAUTHENTICATED",
        `On ${reachable.join(", ")} other machines could use this server without a key. Configure server.api_keys, or set server.allow_unauthenticated = true if that is meant.`,
      );
    }
    const handler = this.app.routing.bind(this.app);
    this.#listeners = await listenOn(server, handler, this.#timeoutMs, writeError, log);
    return { urls: this.#listeners.urls };
  }

  close({ drainMs = 0 }: { drainMs?: number } = {}): Promise<void> {
    this.#closed ??= this.#close(drainMs);
    return this.#closed;
  }

  async #close(drainMs: number): Promise<void> {
    await drain(this.#running, this.#listeners, drainMs, (exchange, error) =>
      this.#answers.error(exchange, error),
    );
    await this.app.close();
  }

  #build(): FastifyInstance {
    const app = fastify({
      logger: false,
      genReqId: newRequestId,
      requestIdHeader: false,
      return503OnClosing: false,
      ajv: { customOptions: AJV_OPTIONS },
      routerOptions: {
        ignoreTrailingSlash: true,
        ignoreDuplicateSlashes: true,
        maxParamLength: MAX_PARAM_LENGTH,
      },
      frameworkErrors: (error, request, reply) => {
        const exchange = this.#begin(request as FastifyRequest, reply as FastifyReply);
        this.#answers.error(exchange, fromFramework(error));
      },
    });
    app.decorateRequest("exchange", null as unknown as Exchange);
    app.addHook("onRequest", (request, reply, done) => {
      const exchange = this.#begin(request, reply);
      try {
        if (this.#checks.onArrival(exchange)) return;
      } catch (error) {
        this.#answers.error(exchange, toSomnusError(error));
        return;
      }
      done();
    });
    app.setErrorHandler((error, { exchange, body, params, query }) => {
      const complaint = fromValidator(error, exchange.route, { body, params, querystring: query });
      this.#answers.error(exchange, complaint ?? fromFramework(error));
    });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", ({ raw, exchange }, _payload, done) => {
      const { route, reply } = exchange;
      if (!route?.body) return done(null, undefined);
      readJsonBody(raw, reply.raw, route.bodyLimit ?? this.#options.limits.max_body_bytes, done);
    });
    for (const route of [...this.#routes, ...this.#assets]) this.#add(app, route);
    return app;
  }

  #add(app: FastifyInstance, route: Route): void {
    app.route({
      method: route.method,
      url: route.path,
      schema: validationSchemas(route),
      onRequest: ({ exchange }, _reply, done) => {
        try {
          this.#checks.onRoute(exchange, route);
        } catch (error) {
          this.#answers.error(exchange, toSomnusError(error));
          return;
        }
        done();
      },
      handler: ({ exchange }) => this.#serve(route, exchange),
    });
  }

  #begin(request: FastifyRequest, reply: FastifyReply): Exchange {
    const exchange = new Exchange(request.id, reply);
    request.exchange = exchange;
    reply.header("x-request-id", request.id);
    this.#running.add(exchange);
    reply.raw.on("close", () => {
      exchange.end();
      this.#running.delete(exchange);
    });
    exchange.limit(this.#timeoutMs, () => this.#onTimeout(exchange));
    return exchange;
  }

  #onTimeout(exchange: Exchange): void {
    const { request_timeout_secs } = this.#options.limits;
    const error = new SomnusError(
      "request_timeout",
      `The answer did not begin within ${request_timeout_secs} s (limits.request_timeout_secs).`,
    );
    exchange.abort(error);
    this.#answers.error(exchange, error);
  }

  /** Runs a handler. Nothing is returned to the framework: {@link Answers} writes, once, whoever is first. */
  #serve(route: Route, exchange: Exchange): void {
    const fail = (error: unknown) => this.#answers.error(exchange, toSomnusError(error));
    try {
      const outcome = route.handler(new RouteCall(exchange, this.#options.log, this.#isDraining));
      if (outcome instanceof Promise)
        outcome.then((reply) => this.#answers.reply(exchange, reply), fail);
      else this.#answers.reply(exchange, outcome);
    } catch (error) {
      fail(error);
    }
  }
}

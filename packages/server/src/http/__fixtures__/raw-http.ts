import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A TCP connection to a door, for what no HTTP client can be made to send. */
export class RawConnection {
  readonly socket: Socket;
  /** Everything received so far. */
  text = "";
  /** Resolves when the other side has ended the connection or it broke. */
  readonly closed: Promise<void>;
  #waiting: (() => void)[] = [];

  constructor(port: number) {
    this.socket = connect({ host: "127.0.0.1", port });
    this.socket.setEncoding("utf8");
    this.socket.on("data", (chunk: string) => {
      this.text += chunk;
      this.#wake();
    });
    this.socket.on("error", () => {});
    this.closed = new Promise((resolve) => {
      this.socket.on("close", () => {
        resolve();
        this.#wake();
      });
    });
    onTestFinished(() => {
      this.socket.destroy();
    });
  }

  send(text: string): void {
    this.socket.write(text);
  }

  /** Resolves when the text received matches; rejects when the connection closes without. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.text)) {
      if (this.socket.destroyed)
        throw new Error(`closed before ${pattern}: ${JSON.stringify(this.text)}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this.text;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

export const REQUEST_ID = /^req-[0-9a-f]{32}$/;
export const REQUEST_ID_LINE = /^x-request-id: req-[0-9a-f]{32}\r$/im;

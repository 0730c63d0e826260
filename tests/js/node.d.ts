// What the tests use of Node, as far as they use it: its own types are a package that nothing else here needs.

declare module "node:test" {
  /** Runs a test of this name. */
  export function test(name: string, body: () => void | Promise<void>): void;
}

declare module "node:assert/strict" {
  interface Assert {
    (value: unknown, message?: string): asserts value;
    equal(actual: unknown, expected: unknown, message?: string): void;
    notEqual(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    notDeepEqual(actual: unknown, expected: unknown, message?: string): void;
    ok(value: unknown, message?: string): asserts value;
    throws(body: () => unknown, error?: unknown): void;
    rejects(body: Promise<unknown> | (() => Promise<unknown>), error?: unknown): Promise<void>;
    match(text: string, pattern: RegExp, message?: string): void;
  }
  const assert: Assert;
  export default assert;
}

declare module "node:fs/promises" {
  export function readFile(path: URL | string): Promise<Uint8Array<ArrayBuffer>>;
  export function readFile(path: URL | string, encoding: "utf8" | "utf-8"): Promise<string>;
}

declare module "node:zlib" {
  export function deflateSync(bytes: Uint8Array): Uint8Array<ArrayBuffer>;
}

declare const Buffer: { from(text: string, encoding: "base64"): Uint8Array<ArrayBuffer> };

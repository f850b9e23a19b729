import { inspect } from 'node:util';

/** A value that shows as `[redacted]` wherever it is printed, logged or made JSON. */
export interface Secret {
  reveal(): string;
  toString(): string;
  toJSON(): string;
}

const redacted = '[redacted]';

/** The value is a private field: a spread, `Object.entries` and a deep `inspect` do not find it either. */
class HiddenText implements Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return redacted;
  }

  toJSON(): string {
    return redacted;
  }

  [inspect.custom](): string {
    return redacted;
  }
}

export const createSecret = (value: string): Secret => new HiddenText(value);

import type { Fields, Logger } from '@tartan/kube';

/** A logger that records every line as text, errors with their causes. */
export const createRecordingLogger = (): { log: Logger; lines: string[] } => {
  const lines: string[] = [];
  const plain = (_: string, value: unknown): unknown =>
    value instanceof Error ? { stack: value.stack, cause: value.cause, own: Object.entries(value) } : value;
  const at = (base: Fields): Logger => {
    const write = (message: string, fields: Fields = {}): void => {
      lines.push(JSON.stringify({ message, ...base, ...fields }, plain));
    };
    return { debug: write, info: write, warn: write, error: write, with: (fields) => at({ ...base, ...fields }) };
  };
  return { log: at({}), lines };
};

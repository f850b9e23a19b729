/** A script of kubectl commands, as data, so that it can run against two servers and the answers can be compared. */
export interface KubectlScript {
  title: string;
  /** Every command of the script runs in this namespace, unless it says otherwise. */
  namespace: string;
  steps: readonly Step[];
}

/** A command without `kubectl`; the long form for everything else. */
export type Step = string | DetailedStep;

export interface DetailedStep {
  run: string;
  /** Standard input: a manifest for `-f -`. */
  input?: string;
  /** Store the output as a variable, for `$NAME` in later commands and inputs. It differs between servers, so it is not compared. */
  capture?: string;
  /** Repeat until standard output matches. For what `kubectl wait` cannot express. */
  until?: RegExp;
  /** Compare only the lines that match. */
  lines?: RegExp;
  /** Compare lines as a set: the server chooses the order. */
  unordered?: boolean;
  /**
   * Commands that run while this one is watching. They start when it has printed the first `before` lines. A watch is ended after it has
   * printed `watched` lines; a command without `watched` ends by itself.
   */
  during?: { steps: readonly Step[]; before: number; watched?: number };
}

export const detailed = (step: Step): DetailedStep => (typeof step === 'string' ? { run: step } : step);

/**
 * Waits until something is gone. kubectl prints it only if it still existed when the wait began, which depends on timing: the output is not
 * compared.
 */
export const gone = (what: string): DetailedStep => ({
  run: `wait --for=delete ${what} --timeout=300s`,
  lines: /(?!)/,
});

/** Splits a command line into words: at spaces, except between single or double quotes. */
export const words = (line: string): string[] => {
  const result: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (const character of line) {
    if (quote !== undefined) {
      if (character === quote) quote = undefined;
      else word = (word ?? '') + character;
    } else if (character === "'" || character === '"') {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== undefined) result.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + character;
    }
  }
  if (quote !== undefined) throw new Error(`a quote is not closed in: ${line}`);
  if (word !== undefined) result.push(word);
  return result;
};

/** Replaces `$NAME` by the captured value. */
export const substitute = (text: string, variables: ReadonlyMap<string, string>): string =>
  text.replace(/\$([A-Z]+)\b/g, (whole, name: string) => variables.get(name) ?? whole);

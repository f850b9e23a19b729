/** A script of kubectl commands, written as data so that it can be played to two servers and the answers compared. */
export interface KubectlScript {
  title: string;
  /** Every command of the script runs in this namespace, unless it says otherwise. */
  namespace: string;
  steps: readonly Step[];
}

/** A command as it would be typed behind `kubectl`; the long form for what that cannot say. */
export type Step = string | DetailedStep;

export interface DetailedStep {
  run: string;
  /** Standard input: a manifest for `-f -`. */
  input?: string;
  /** Keep the output as a variable, for `$NAME` in later commands and inputs. It is different on every server, so it is not compared. */
  capture?: string;
  /** Run it again and again until standard output matches. For what `kubectl wait` cannot express. */
  until?: RegExp;
  /** Compare only the lines that match. */
  lines?: RegExp;
  /** Compare lines as a set: the order is left to the server. */
  unordered?: boolean;
  /**
   * Commands that are run while this one is looking on. They start when it has printed the first `before` lines. A watch is ended after
   * it has printed as many lines as `watched` says; a command without `watched` ends by itself.
   */
  during?: { steps: readonly Step[]; before: number; watched?: number };
}

export const detailed = (step: Step): DetailedStep => (typeof step === 'string' ? { run: step } : step);

/**
 * Waits until something is gone. kubectl says so only if it was still there when the wait began, which is a matter of luck: what it
 * prints is not compared.
 */
export const gone = (what: string): DetailedStep => ({ run: `wait --for=delete ${what} --timeout=60s`, lines: /(?!)/ });

/** The words of a command line: split at spaces, except between single or double quotes. */
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

/** Replaces `$NAME` by what was captured under that name. */
export const substitute = (text: string, variables: ReadonlyMap<string, string>): string =>
  text.replace(/\$([A-Z]+)\b/g, (whole, name: string) => variables.get(name) ?? whole);

import type { HandoverProblem } from './guests.ts';

/** Somebody has to change something first. The message is for people, and never has anything from inside a Secret or a token. */
export class HandoverRefused extends Error {
  readonly problem: HandoverProblem;
  constructor(reason: HandoverProblem['reason'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'HandoverRefused';
    this.problem = { kind: 'problem', reason, message };
  }
}

export const configProblem = (message: string): HandoverRefused =>
  new HandoverRefused('CreateContainerConfigError', message);

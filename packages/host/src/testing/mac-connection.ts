import { buffer } from 'node:stream/consumers';
import type { Mac } from '@tartan/sim-mac';
import type { CommandOutcome, HostAddress, HostConnection } from '../connection/connection.ts';

/** When the connection of a command is lost: before it starts, after it has ended, or after a part of its input. */
type Cut = 'before' | 'after' | { readonly inputAfter: number };

export interface MacConnectionOptions {
  readonly transport?: HostAddress['transport'];
  /** Called for each script, with its number from 0. A cut connection stays lost. */
  readonly cut?: (script: string, nth: number) => Cut | undefined;
  /** Answers in place of the Mac. */
  readonly answer?: (script: string, nth: number) => CommandOutcome | undefined;
}

/** A connection without SSH that records the scripts. */
export interface MacConnection extends HostConnection {
  readonly scripts: readonly string[];
}

/** The script inside a command that `shellCommand` made. */
const scriptIn = (command: string): string => {
  const encoded = /echo ([A-Za-z0-9+/=]+) \|/.exec(command)?.[1];
  return encoded === undefined ? command : Buffer.from(encoded, 'base64').toString();
};

const empty = { stdout: '', stderr: '' };
const lost: CommandOutcome = { kind: 'connection lost', cause: 'cut by the test', ...empty };

export const macConnection = (mac: Pick<Mac, 'run' | 'hostKey'>, options: MacConnectionOptions = {}): MacConnection => {
  const scripts: string[] = [];
  let isLost = false;
  return {
    scripts,
    hostKey: mac.hostKey(),
    address: { host: '127.0.0.1', port: 22, transport: options.transport ?? 'public' },
    close: async () => {
      isLost = true;
    },
    run: async ({ command, stdin }, signal) => {
      if (isLost) return lost;
      if (signal?.aborted === true) return { kind: 'aborted', ...empty };
      const script = scriptIn(command);
      const nth = scripts.push(script) - 1;
      const answer = options.answer?.(script, nth);
      if (answer !== undefined) return answer;
      const cut = options.cut?.(script, nth);
      isLost = cut !== undefined;
      if (cut === 'before') return lost;
      const input = stdin === undefined ? Buffer.alloc(0) : await buffer(stdin()).catch(String);
      if (typeof input === 'string') return { kind: 'input failed', cause: input, ...empty };
      const sent = typeof cut === 'object' ? input.subarray(0, cut.inputAfter) : input;
      const { code, signal: killedBy, stdout, stderr } = await mac.run(command, { stdin: sent });
      if (isLost) return lost;
      if (code === 0) return { kind: 'done', stdout, stderr };
      return {
        kind: 'command failed',
        ...(code === null ? {} : { code }),
        ...(killedBy === null ? {} : { signal: killedBy }),
        stdout,
        stderr,
      };
    },
  };
};

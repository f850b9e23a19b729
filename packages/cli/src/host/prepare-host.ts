import { hostname } from 'node:os';
import { convergeHost, type HostOutcome, preparationSteps } from '@tartan/host';
import type { TextStyle } from '../output/terminal-text.ts';
import { askSecret, type Terminal } from './ask-secret.ts';
import { connectToHost, type Target } from './connect.ts';
import { eventLine, outcomeText } from './report-text.ts';

export interface PrepareOptions extends Target {
  /** Virtual machines run on the Mac: what would kill them is left out. */
  readonly busy: boolean;
}

export interface Console extends Terminal {
  readonly style: TextStyle;
}

/**
 * Makes one Mac ready to be taken over: root without a password, power, and a console session that is proven. The same steps, proofs
 * and stamps as the controller's. Answers the exit code.
 */
export const prepareHost = async (options: PrepareOptions, console: Console, signal: AbortSignal): Promise<number> => {
  const say = (line: string): void => void console.output.write(`${line}\n`);
  const userPassword = await askSecret(`Password of ${options.user} on ${options.host}: `, console);
  if (userPassword === '' || userPassword === '<sealed>') {
    say(
      `That is not a password, so nothing was sent. Scaleway shows it once, with the server's VNC address; a reinstall makes a new one.`,
    );
    return 2;
  }
  const connection = await connectToHost(options, signal);
  try {
    say(
      `Connected to ${options.host}, host key ${connection.hostKey}${options.hostKey === undefined ? ' (taken on trust)' : ''}`,
    );
    const outcome = await convergeHost(
      connection,
      { user: options.user },
      { userPassword },
      {
        owner: `prepare-host of ${process.pid} on ${hostname().replaceAll(/[^\x20-\x7E]|#/g, '-')}`,
        idle: !options.busy,
        mode: 'verify',
        steps: preparationSteps,
        signal,
        report: (event) => {
          const line = eventLine(event, console.style);
          if (line !== undefined) say(line);
        },
      },
    );
    return conclude(outcome, options, say);
  } finally {
    await connection.close();
  }
};

const conclude = (outcome: HostOutcome, { host, hostKey }: PrepareOptions, say: (line: string) => void): number => {
  if (outcome.kind !== 'converged') {
    say('');
    say(outcomeText(outcome));
    return 1;
  }
  say('');
  const left = [
    ...outcome.deferred.map(
      ({ step }) => `Run this again without --busy when no virtual machine runs: step ${step} waits.`,
    ),
    ...(outcome.rebootPending ? ['Reboot the Mac: something that was changed takes effect then.'] : []),
    ...(hostKey === undefined
      ? ['Compare the host key above with what the Mac itself shows, if you can: it was taken on trust.']
      : []),
    `Give the Mac its pool name at Scaleway (tuist-pool-…), so that a machine can claim it; everything else follows by itself.`,
  ];
  say(
    outcome.deferred.length === 0
      ? `${host} is prepared: root, power and console session are proven.`
      : `${host} is prepared but for one thing.`,
  );
  say('What is left to do:');
  for (const [index, line] of left.entries()) say(`  ${index + 1}. ${line}`);
  return 0;
};

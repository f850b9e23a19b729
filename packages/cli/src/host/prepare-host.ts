import { hostname } from 'node:os';
import { convergeHost, type HostOutcome } from '@tartan/host';
import type { TextStyle } from '../output/terminal-text.ts';
import { askSecret, type Terminal } from './ask-secret.ts';
import { connectToHost, type Target } from './connect.ts';
import { eventLine, outcomeText } from './report-text.ts';

export interface PrepareOptions extends Target {
  /** Virtual machines run on the Mac: steps that would stop them are skipped. */
  readonly busy: boolean;
}

export interface Console extends Terminal {
  readonly style: TextStyle;
}

/** Prepares one Mac with the steps of the manager: passwordless sudo, power, and a verified console session. Returns the exit code. */
export const prepareHost = async (options: PrepareOptions, console: Console, signal: AbortSignal): Promise<number> => {
  const print = (line: string): void => void console.output.write(`${line}\n`);
  const userPassword = await askSecret(`Password of ${options.user} on ${options.host}: `, console);
  if (userPassword === '' || userPassword === '<sealed>') {
    print(
      `No password was given, so nothing was sent. Scaleway shows it once, with the VNC address of the server; a reinstall sets a new one.`,
    );
    return 2;
  }
  const connection = await connectToHost(options, signal);
  try {
    print(
      `Connected to ${options.host}, host key ${connection.hostKey}${options.hostKey === undefined ? ' (trusted on first use)' : ''}`,
    );
    const outcome = await convergeHost(
      connection,
      { user: options.user },
      { userPassword },
      {
        owner: `prepare-host of ${process.pid} on ${hostname().replaceAll(/[^\x20-\x7E]|#/g, '-')}`,
        idle: !options.busy,
        mode: 'verify',
        signal,
        report: (event) => {
          const line = eventLine(event, console.style);
          if (line !== undefined) print(line);
        },
      },
    );
    return conclude(outcome, options, print);
  } finally {
    await connection.close();
  }
};

const conclude = (outcome: HostOutcome, { host, hostKey }: PrepareOptions, print: (line: string) => void): number => {
  if (outcome.kind !== 'converged') {
    print('');
    print(outcomeText(outcome));
    return 1;
  }
  print('');
  const left = [
    ...outcome.deferred.map(
      ({ step }) => `Run the command again without --busy when no virtual machine runs: step ${step} was skipped.`,
    ),
    ...(outcome.rebootPending ? ['Reboot the Mac: a change takes effect after a reboot.'] : []),
    ...(hostKey === undefined
      ? ['Compare the host key above with that of the Mac, if you can: it was trusted on first use.']
      : []),
    'Give the Mac a pool name at Scaleway (tuist-pool-…), so that a machine can claim it.',
  ];
  print(
    outcome.deferred.length === 0
      ? `${host} is prepared: sudo, power and console session are verified.`
      : `${host} is prepared, except for a skipped step.`,
  );
  print('Next steps:');
  for (const [index, line] of left.entries()) print(`  ${index + 1}. ${line}`);
  return 0;
};

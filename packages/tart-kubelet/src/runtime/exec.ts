import type { Readable } from 'node:stream';
import type { Clock } from '@tartan/kube/clock';
import type { ExecEnd, Tart } from '@tartan/tart';
import type { ExecRequest, RemoteOutcome, RemoteSession } from '../api/pod-runtime.ts';
import { latestSize } from './latest-size.ts';
import { untilEnded } from './until-ended.ts';

/** Until the client tells its own, which it does at once. */
const usualSize = { rows: 24, columns: 80 };

const outcomeOf = (end: ExecEnd): RemoteOutcome => {
  if (end.kind === 'exited') return end;
  return { kind: 'failed', message: messages[end.error.reason] ?? end.error.message };
};

const messages: Readonly<Record<string, string>> = {
  'guest agent unreachable':
    'nobody answers in the guest: commands run by the Tart Guest Agent. Wait if it is still booting; else install tart-guest-agent in ' +
    'the image, with a launchd agent that runs it with --run-agent (or --run-rpc)',
  'not running': 'the virtual machine is not running any more',
  missing: 'the virtual machine is gone',
  aborted: 'the command was ended',
};

/** A command in the guest, by its agent. */
export const execInGuest = (
  tart: Pick<Tart, 'exec'>,
  clock: Clock,
  vm: string,
  { command, stdin, stdout, stderr, tty }: ExecRequest,
): RemoteSession => {
  const session = tart.exec(vm, command, { stdin, tty: tty ? usualSize : undefined });
  let isOver = false;
  const ended = session.ended.then((end) => {
    isOver = true;
    return end;
  });
  /** What nobody asked for is thrown away: the command must not wait for a reader. */
  const output = (source: Readable, wanted: boolean): Readable | undefined => {
    if (wanted) return untilEnded(source, ended, clock);
    source.resume();
    return undefined;
  };
  const [out, errors] = [output(session.stdout, stdout), output(session.stderr, stderr && !tty)];
  return {
    stdin: session.stdin,
    stdout: out,
    stderr: errors,
    resize: latestSize(({ width, height }) => session.resize({ rows: height, columns: width })),
    outcome: ended.then(outcomeOf),
    end: () => {
      // Its number may be another process's by now.
      if (!isOver) session.kill();
      out?.destroy();
      errors?.destroy();
    },
  };
};

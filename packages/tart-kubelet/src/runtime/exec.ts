import { Readable } from 'node:stream';
import type { Clock } from '@tartan/kube/clock';
import type { ExecResult, Tart, TerminalSize } from '@tartan/tart';
import type { ExecRequest, RemoteResult, RemoteSession } from '../api/pod-runtime.ts';

/** Sets sizes one after the other: of those that come meanwhile only the last counts, and it is never overtaken by an older one. */
export const coalesceResizes = (set: (size: TerminalSize) => Promise<void>): ((size: TerminalSize) => void) => {
  let wanted: TerminalSize | undefined;
  let isBusy = false;
  const work = async (): Promise<void> => {
    isBusy = true;
    for (let size = wanted; size !== undefined; size = wanted) {
      wanted = undefined;
      await set(size);
    }
    isBusy = false;
  };
  return (size) => {
    wanted = size;
    if (!isBusy) void work();
  };
};

/** For what is under way between the command and us when the command ends. */
const graceMs = 500;

const graceExpired = Symbol('quiet');

async function* chunksOf(source: Readable, ended: Promise<unknown>, clock: Clock): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = source.iterator({ destroyOnReturn: true });
  try {
    for (;;) {
      let cancelTimer = (): void => {};
      let over = false;
      const graceTimeout = new Promise<typeof graceExpired>((resolve) => {
        void ended.then(() => {
          if (!over) cancelTimer = clock.after(graceMs, () => resolve(graceExpired));
        });
      });
      const next = await Promise.race([chunks.next(), graceTimeout]);
      over = true;
      cancelTimer();
      if (next === graceExpired || next.done === true) return;
      yield next.value;
    }
  } finally {
    source.destroy();
  }
}

/**
 * The output of a command, which ends when the command has: something that it left behind may hold the pipe for as long as it likes. The
 * grace counts only while a reader waits, so that a slow one still gets everything.
 */
export const endWithCommand = (source: Readable, ended: Promise<unknown>, clock: Clock): Readable =>
  Readable.from(chunksOf(source, ended, clock), { objectMode: false });

/** Until the client tells its own, which it does at once. */
const defaultTerminalSize = { rows: 24, columns: 80 };

const outcomeOf = (end: ExecResult): RemoteResult => {
  if (end.kind === 'exited') return end;
  return { kind: 'failed', message: failureMessages[end.error.reason] ?? end.error.message };
};

const failureMessages: Readonly<Record<string, string>> = {
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
  const session = tart.exec(vm, command, { stdin, tty: tty ? defaultTerminalSize : undefined });
  let isOver = false;
  const ended = session.result.then((end) => {
    isOver = true;
    return end;
  });
  /** What nobody asked for is thrown away: the command must not wait for a reader. */
  const output = (source: Readable, wanted: boolean): Readable | undefined => {
    if (wanted) return endWithCommand(source, ended, clock);
    source.resume();
    return undefined;
  };
  const [out, errors] = [output(session.stdout, stdout), output(session.stderr, stderr && !tty)];
  return {
    stdin: session.stdin,
    stdout: out,
    stderr: errors,
    resize: coalesceResizes((size) => session.resize(size)),
    result: ended.then(outcomeOf),
    close: () => {
      // Its number may be another process's by now.
      if (!isOver) session.kill();
      out?.destroy();
      errors?.destroy();
    },
  };
};

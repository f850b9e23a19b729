import { Readable } from 'node:stream';
import type { Clock } from '@tartan/kube/clock';
import type { ExecResult, Tart, TerminalSize } from '@tartan/tart';
import type { ExecRequest, RemoteResult, RemoteSession } from '../api/pod-runtime.ts';

/** Sets sizes one by one: of those that arrive meanwhile only the last is set. */
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

/** For output that is still in the pipe when the command ends. */
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
 * The output of a command, ended with the command: a background process may hold the pipe open. The grace period counts only while a
 * reader waits, so that a slow reader still gets everything.
 */
export const endWithCommand = (source: Readable, ended: Promise<unknown>, clock: Clock): Readable =>
  Readable.from(chunksOf(source, ended, clock), { objectMode: false });

/** Until the client sends its size, which it does at once. */
const defaultTerminalSize = { rows: 24, columns: 80 };

const outcomeOf = (end: ExecResult): RemoteResult => {
  if (end.kind === 'exited') return end;
  return { kind: 'failed', message: failureMessages[end.error.reason] ?? end.error.message };
};

const failureMessages: Readonly<Record<string, string>> = {
  'guest agent unreachable':
    'the Tart Guest Agent, which runs commands in the guest, does not respond. Wait if the guest is still booting; else install tart-guest-agent in ' +
    'the image, with a launchd agent that runs it with --run-agent (or --run-rpc)',
  'not running': 'the virtual machine is not running any more',
  missing: 'the virtual machine is gone',
  aborted: 'the command was ended',
};

/** Runs a command in the guest through its agent. */
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
  /** Discards unrequested output: the command must not block on it. */
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
      // The pid may belong to another process by now.
      if (!isOver) session.kill();
      out?.destroy();
      errors?.destroy();
    },
  };
};

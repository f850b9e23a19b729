import { type ChildProcessWithoutNullStreams, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { Transform, type TransformCallback } from 'node:stream';
import type { Clock } from '@tartan/kube/clock';
import type { Session } from 'ssh2';
import type { Faults } from '../faults.ts';
import type { Machine } from '../machine.ts';

/** What a channel receives on its way to the command: as slow as the faults say, and cut where they say. */
export const throttledInput = (faults: Faults, clock: Clock, cut: () => void): Transform => {
  let received = 0;
  let cancel = (): void => {};
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      const { disconnectAtByte, bytesPerSecond } = faults;
      const room = disconnectAtByte === undefined ? Number.POSITIVE_INFINITY : Math.max(0, disconnectAtByte - received);
      received += chunk.length;
      if (chunk.length >= room) {
        this.push(chunk.subarray(0, room));
        // No `done`: nothing more gets through, and the end of this input is never seen as such.
        setImmediate(cut);
      } else if (bytesPerSecond === undefined) {
        done(null, chunk);
      } else {
        cancel = clock.after((chunk.length / bytesPerSecond) * 1000, () => done(null, chunk));
      }
    },
    destroy(error, done) {
      cancel();
      done(error);
    },
  });
};

interface SessionOptions {
  readonly machine: Machine;
  /** Starts a command of the user's. */
  start(command: string): ChildProcessWithoutNullStreams;
  /** Loses the connection that the session is on. */
  cut(): void;
}

declare module 'ssh2' {
  interface Session {
    /** ssh2 1.17 sets it when the client's input ends, and takes no request from then on; OpenSSH still takes signals. */
    _ending: boolean;
  }
}

/** The connection is gone. A channel says so itself only when all of its input was taken. */
export type HangUp = () => void;

/** Whether a process of this Mac is root's; only its environment tells, as all of them have one real user. */
const isOwnedByRoot = (pid: number): boolean => {
  const environment = existsSync('/proc/self/environ')
    ? readFileSync(`/proc/${pid}/environ`, 'utf8').replaceAll('\0', ' ')
    : spawnSync('/bin/ps', ['-Eww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
  return / TARTAN_SIM_UID=0 /.test(` ${environment} `);
};

/**
 * Whom a signal to a command reaches. sshd sends it to the command's process group, as the user (openssh-portable, session.c,
 * session_signal_req: killpg under temporarily_use_uid), so nothing of root's gets it but sudo, which bears the user's real id. And sudo
 * passes it on to the command that it runs, not to that one's children (sudo, src/exec_nopty.c:140-190). Here the fake sudo becomes its
 * command: a group whose leader is root's gets the signal at the leader alone.
 */
const signalTarget = (pid: number): number => (isOwnedByRoot(pid) ? pid : -pid);

/**
 * One channel of sshd: exec without a terminal. As OpenSSH does it: the exit status goes out when the shell has ended, the channel
 * closes when its output has too (whoever inherits it keeps the channel open); a channel that goes away ends the command's input and
 * breaks its output, and leaves it running.
 */
export const serveSession = (session: Session, { machine, start, cut }: SessionOptions): HangUp => {
  let command: ChildProcessWithoutNullStreams | undefined;
  let hangUp = (): void => {};

  session.once('exec', (accept, _reject, info) => {
    const channel = accept();
    const child = start(info.command);
    command = child;

    const input = throttledInput(machine.faults, machine.clock, cut);
    channel.pipe(input).pipe(child.stdin);
    const discardInput = (): void => {
      input.unpipe(child.stdin);
      child.stdin.destroy();
      input.resume();
    };
    child.stdin.on('error', discardInput);

    child.stdout.pipe(channel, { end: false });
    child.stderr.pipe(channel.stderr, { end: false });
    child.once('exit', (code, signal) => {
      if (signal === null) channel.exit(code ?? 255);
      else channel.exit(signal.replace(/^SIG/, ''), false, '');
      discardInput();
    });
    child.once('error', () => {
      channel.exit(255);
      channel.end();
    });
    child.once('close', () => channel.end());

    channel.on('error', () => {});
    hangUp = () => {
      input.destroy();
      child.stdin.end();
      child.stdout.destroy();
      child.stderr.destroy();
    };
    channel.once('close', hangUp);
  });

  session.on('eof', () => {
    session._ending = false;
  });
  session.on('signal', (_accept, _reject, { name }) => {
    if (command?.pid === undefined || command.exitCode !== null) return;
    try {
      process.kill(signalTarget(command.pid), `SIG${name.replace(/^SIG/, '')}`);
    } catch {
      // It has ended by itself, or there is no such signal.
    }
  });

  return () => hangUp();
};

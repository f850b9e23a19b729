import { type ChildProcessWithoutNullStreams, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Transform, type TransformCallback } from 'node:stream';
import type { Clock } from '@tartan/kube/clock';
import type { Session } from 'ssh2';
import type { Faults } from '../faults.ts';
import type { Machine } from '../machine.ts';
import { environmentOf } from '../processes.ts';

/** The input of a channel, throttled and cut as the faults say. */
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
        // Without `done` no further input passes, and the command never sees an end of file.
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
  /** Starts a command as the user. */
  start(command: string): ChildProcessWithoutNullStreams;
  /** Cuts the connection of the session. */
  cut(): void;
}

declare module 'ssh2' {
  interface Session {
    /** ssh2 1.17 sets it when the client's input ends, and accepts no request from then on; OpenSSH still accepts signals. */
    _ending: boolean;
  }
}

/** Called when the connection is gone. A channel reports that itself only when all of its input was read. */
export type HangUp = () => void;

/** Whether a process of this Mac runs as root; only its environment shows it, as all processes really have one user. */
const isOwnedByRoot = (pid: number): boolean => {
  const environment = existsSync('/proc/self/environ')
    ? environmentOf(pid)
    : spawnSync('/bin/ps', ['-Eww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout.split(/\s/);
  return environment.includes('TARTAN_SIM_UID=0');
};

/**
 * The target of a signal to a command. sshd sends it to the command's process group, as the user (openssh-portable, session.c,
 * session_signal_req: killpg under temporarily_use_uid), so no process of root gets it except sudo, which has the user's real id. sudo
 * passes it on to its command, not to that command's children (sudo, src/exec_nopty.c:140-190). Here the fake sudo becomes its command: in
 * a group whose leader is root, only the leader gets the signal.
 */
const signalTarget = (pid: number): number => (isOwnedByRoot(pid) ? pid : -pid);

/**
 * One channel of sshd: exec without a terminal. As in OpenSSH: the exit status is sent when the shell has ended; the channel closes when
 * its output is closed too (a process that inherits it keeps the channel open). When the channel closes, the command's input ends and its
 * output breaks, but the command keeps running.
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
      // It has already ended, or there is no such signal.
    }
  });

  return () => hangUp();
};

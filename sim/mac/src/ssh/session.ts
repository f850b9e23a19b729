import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Session } from 'ssh2';
import type { Machine } from '../machine.ts';
import { channelInput } from './channel-input.ts';

export interface SessionOptions {
  readonly machine: Machine;
  /** Starts a command of the user's. */
  start(command: string): ChildProcessWithoutNullStreams;
  /** Loses the connection that the session is on. */
  cut(): void;
}

/** The connection is gone. A channel says so itself only when all of its input was taken. */
export type HangUp = () => void;

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

    const input = channelInput(machine.faults, machine.clock, cut);
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

  session.on('signal', (_accept, _reject, { name }) => {
    if (command?.pid === undefined || command.exitCode !== null) return;
    try {
      process.kill(-command.pid, `SIG${name.replace(/^SIG/, '')}`);
    } catch {
      // It has ended by itself, or there is no such signal.
    }
  });

  return () => hangUp();
};

import { Readable } from 'node:stream';
import type { Clock } from '@tartan/kube/clock';
import type { RawData, WebSocket } from 'ws';
import { pingWhileStalled } from '../spdy/connection.ts';
import { createResizeBuffer, parseTerminalSize, type RemoteClient } from './remote-command.ts';

/** The channel: first byte of each message. */
const channels = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4, close: 255 } as const;
export const remoteCommandProtocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const;

const maxMessageBytes = 32 * 1024;

const bytesOf = (data: RawData): Buffer =>
  Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data);

/** exec and attach over WebSocket: `v5.channel.k8s.io`, or `v4`, which cannot signal the end of stdin. */
export const webSocketClient = (socket: WebSocket, clock: Clock): RemoteClient => {
  const disconnected = new AbortController();
  const resizes = createResizeBuffer();
  let stopPings: (() => void) | undefined;
  const resume = (): void => {
    if (!stopPings) return;
    stopPings();
    stopPings = undefined;
    socket.resume();
  };
  const stdin = new Readable({ read: resume });
  stdin.on('error', () => {});
  stdin.once('close', resume);

  const takeInput = (bytes: Buffer): void => {
    if (stdin.destroyed || stdin.readableEnded) return;
    if (stdin.push(bytes) || stopPings) return;
    socket.pause();
    stopPings = pingWhileStalled(
      clock,
      () => socket.ping(),
      () => socket.terminate(),
    );
  };
  let inputEnded = false;
  const endInput = (): void => {
    if (!inputEnded) stdin.push(null);
    inputEnded = true;
  };

  socket.on('message', (data) => {
    const bytes = bytesOf(data);
    const content = bytes.subarray(1);
    switch (bytes[0] ?? -1) {
      case channels.stdin:
        // v5 opens each channel with an empty message, and an empty push has no meaning for the stream.
        if (content.length > 0 && !inputEnded) takeInput(content);
        break;
      case channels.resize:
        resizes.push(parseTerminalSize(content.toString()));
        break;
      case channels.close:
        if (content[0] === channels.stdin && socket.protocol === remoteCommandProtocols[0]) endInput();
        break;
      default:
      // Messages on other channels are ignored.
    }
  });
  socket.on('error', () => socket.terminate());
  socket.once('close', () => {
    stopPings?.();
    stopPings = undefined;
    disconnected.abort();
    stdin.destroy();
  });

  const send = (channel: number, bytes: Buffer): Promise<void> =>
    new Promise((resolve, reject) => {
      socket.send(Buffer.concat([Buffer.of(channel), bytes]), { binary: true }, (error) =>
        error ? reject(error) : resolve(),
      );
    });

  return {
    stdin,
    onResize: resizes.onResize,
    disconnected: disconnected.signal,
    write: async (to, bytes) => {
      for (let at = 0; at < bytes.length; at += maxMessageBytes) {
        await send(channels[to], bytes.subarray(at, at + maxMessageBytes));
      }
    },
    finish: async (status) => {
      await send(channels.status, Buffer.from(status));
      // Discards further input, so that the client's close frame behind it is read.
      stdin.destroy();
      resume();
      // kubectl fails with any other code, whatever the status says.
      socket.close(1000);
    },
  };
};

import type { ClientRequest } from 'node:http';
import type { Clock } from '../clock/clock.ts';
import { KubeError } from '../errors/kube-error.ts';
import type { Socket } from 'node:net';

/** How long a connection may be silent before the kernel asks whether the other side is still there. */
const keepAliveDelayMs = 15_000;

const startTimer = (request: ClientRequest, socket: Socket, address: string, clock: Clock, limitMs: number): void => {
  const expire = (): void => {
    const text = `Cannot reach the Kubernetes API at ${address}: no connection within ${limitMs / 1000} s. `;
    request.destroy(new KubeError('timeout', `${text}Check the address, routes and firewalls`));
  };
  const stop = clock.after(limitMs, expire);
  socket.once('secureConnect', stop);
  socket.once('close', stop);
};

/** Ends a request that gets no connection; and has every new connection watched by TCP keepalive, so that a dead one is noticed. */
export const limitConnect = (request: ClientRequest, address: string, clock: Clock, limitMs: number): void => {
  request.once('socket', (socket: Socket) => {
    if (request.reusedSocket) return;
    socket.setKeepAlive(true, keepAliveDelayMs);
    startTimer(request, socket, address, clock, limitMs);
  });
};

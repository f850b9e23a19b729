import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ClusterPki } from '../../pki/pki.ts';

/** For tests: an HTTPS server in the place of a kubelet, whose certificate nobody knows. */
export interface FakeKubelet {
  url: string;
  /** Method and target of everything that was asked, with the common name that came with it. */
  seen: { request: string; headers: IncomingMessage['headers']; client: string }[];
  sockets: Set<Socket>;
  close(): Promise<void>;
}

export interface FakeKubeletOptions {
  /** Whose client certificates it trusts. */
  cluster: ClusterPki;
  /** Who signs its own. */
  own: ClusterPki;
  onRequest?(incoming: IncomingMessage, response: ServerResponse): void;
  /** Takes an upgrade to WebSocket. */
  onSocket?(socket: WebSocket, incoming: IncomingMessage): void;
  /** Takes any other upgrade. */
  onUpgrade?(incoming: IncomingMessage, socket: Socket, head: Buffer): void;
}

export const fakeKubelet = async (options: FakeKubeletOptions): Promise<FakeKubelet> => {
  const { cluster, own, onRequest, onSocket, onUpgrade } = options;
  const { certificate, key } = await own.issue({
    commonName: 'self',
    organizations: [],
    usages: ['server auth', 'digital signature'],
    seconds: 3600,
  });
  const server = createServer({
    cert: certificate,
    key,
    ca: cluster.caCertificate,
    requestCert: true,
    rejectUnauthorized: false,
  });
  const websockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const seen: FakeKubelet['seen'] = [];
  const sockets = new Set<Socket>();
  const note = ({ method, url, headers, socket }: IncomingMessage): void => {
    const { authorized } = socket as TLSSocket;
    const name = String((socket as TLSSocket).getPeerCertificate().subject?.CN);
    seen.push({ request: `${method} ${url}`, headers, client: authorized ? name : 'nobody' });
  };
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
    note(incoming);
    onRequest?.(incoming, response);
  });
  server.on('upgrade', (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
    note(incoming);
    socket.on('error', () => socket.destroy());
    if (onUpgrade) onUpgrade(incoming, socket, head);
    else websockets.handleUpgrade(incoming, socket, head, (websocket) => onSocket?.(websocket, incoming));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    sockets,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};

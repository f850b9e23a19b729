import { type IncomingMessage, ServerResponse } from 'node:http';
import { request } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError } from '../errors/api-error.ts';
import { dialError, type KubeletOptions, limitDial } from '../kubelet/kubelet-client.ts';
import { errorResponse, respond } from './send-response.ts';

/** Browsers send the token as a subprotocol, because they cannot set headers. */
const hiddenToken = 'base64url.bearer.authorization.k8s.io.';
const secret = /^(authorization|cookie|impersonate-.*|content-length|transfer-encoding)$/;

/** The client's headers without its credentials: the kubelet only authenticates the API server. */
export const forwardedHeaders = (
  incoming: Pick<IncomingMessage, 'headersDistinct'>,
): Record<string, string | string[]> => {
  const result: Record<string, string | string[]> = {};
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    if (!values || secret.test(name)) continue;
    const kept = name === 'sec-websocket-protocol' ? values.map(withoutToken).filter((value) => value !== '') : values;
    if (kept.length > 0) result[name] = kept.length === 1 ? kept.join() : kept;
  }
  return result;
};

const withoutToken = (protocols: string): string =>
  protocols
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => !protocol.startsWith(hiddenToken))
    .join(', ');

const switchingProtocols = ({ rawHeaders }: IncomingMessage): string => {
  const lines = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : []));
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`;
};

/** Like `destroySoon` of a socket. Node passes another kind of stream while the body of an upgrade request is unread. */
const destroySoon = (stream: Duplex): void => {
  stream.end();
  if (stream.writableFinished) stream.destroy();
  else stream.once('finish', () => stream.destroy());
};

/** Pipes two sockets into each other; both end together. */
const join = (client: Socket, kubelet: Socket): void => {
  client.pipe(kubelet);
  kubelet.pipe(client);
  for (const [one, other] of [
    [client, kubelet],
    [kubelet, client],
  ] as const) {
    one.on('error', () => one.destroy());
    one.once('end', () => destroySoon(other));
    one.once('close', () => destroySoon(other));
  }
};

/** A plain response on a socket that the HTTP server has released. Closes the connection. */
export const answerOn = (incoming: IncomingMessage, socket: Socket): ServerResponse => {
  const response = new ServerResponse(incoming);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => {
    response.detachSocket(socket);
    destroySoon(socket);
  });
  response.once('close', () => destroySoon(socket));
  return response;
};

export interface Upgrade {
  incoming: IncomingMessage;
  client: Socket;
  /** What the client sent after its headers. */
  head: Buffer;
  url: string;
  options: KubeletOptions;
  signal: AbortSignal;
}

/**
 * Connects a client with a kubelet. Before the kubelet has agreed to switch protocols, it gets only the client's headers: otherwise the
 * client could send further requests over this connection, with the rights of the API server.
 */
export const proxyUpgrade = async ({ incoming, client, head, url, options, signal }: Upgrade): Promise<void> => {
  const credentials = await options();
  const refuse = (error: unknown): void => {
    if (client.destroyed) return;
    const failure = new ApiError(500, '', `error dialing backend: ${dialError(error, url)}`);
    void respond(answerOn(incoming, client), errorResponse(failure), signal);
  };
  try {
    const method = incoming.method ?? 'GET';
    const outgoing = request(url, { ...credentials, method, headers: forwardedHeaders(incoming), signal });
    limitDial(outgoing);
    outgoing.once('upgrade', (answer: IncomingMessage, kubelet: Socket, kubeletHead: Buffer) => {
      client.write(switchingProtocols(answer));
      client.write(kubeletHead);
      kubelet.write(head);
      join(client, kubelet);
    });
    outgoing.once('response', (answer: IncomingMessage) => {
      const headers = { 'content-type': answer.headers['content-type'] ?? 'text/plain' };
      const stream = { kind: 'stream' as const, code: answer.statusCode ?? 502, headers, chunks: answer };
      void respond(answerOn(incoming, client), stream, signal);
    });
    outgoing.once('error', refuse);
    outgoing.end();
  } catch (error) {
    refuse(error);
  }
};

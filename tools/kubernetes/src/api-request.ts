import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Access } from './control-plane/kubeconfig.ts';

interface ApiRequestOptions {
  method?: string;
  body?: unknown;
  contentType?: string;
  signal?: AbortSignal;
}

/** One request on its own connection: nothing has to be closed afterwards, and the server may restart between requests. */
export const apiRequest = (
  { url, caCertificate, clientCertificate, clientKey, token }: Access,
  path: string,
  { method, body, contentType = 'application/json', signal }: ApiRequestOptions = {},
): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const settings = {
      method,
      agent: false as const,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': contentType }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ca: caCertificate || undefined,
      cert: clientCertificate,
      key: clientKey,
      signal,
    };
    const outgoing = request(new URL(path, url), settings, (response) => {
      text(response).then((answer) => resolve({ status: response.statusCode ?? 0, body: answer }), reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });

/** GETs JSON and fails on anything but 200. */
export const getJson = async <T = unknown>(access: Access, path: string): Promise<T> => {
  const { status, body } = await apiRequest(access, path);
  if (status !== 200) throw new Error(`GET ${path} of ${access.url} answered ${status}: ${body.slice(0, 500)}`);
  const value: T = JSON.parse(body);
  return value;
};

import { request, type RequestOptions } from 'node:https';
import type { Access } from './control-plane/kubeconfig.ts';

export interface ApiAnswer {
  status: number;
  body: string;
}

export interface ApiRequestOptions {
  method?: string;
  body?: unknown;
  contentType?: string;
  accept?: string;
  signal?: AbortSignal;
}

/** One request on a connection of its own: nothing to close afterwards, and a server that restarts is no surprise. */
export const apiRequest = (access: Access, path: string, options: ApiRequestOptions = {}): Promise<ApiAnswer> =>
  new Promise((resolve, reject) => {
    const body = options.body === undefined ? undefined : JSON.stringify(options.body);
    const settings: RequestOptions = {
      method: options.method ?? 'GET',
      agent: false,
      headers: {
        accept: options.accept ?? 'application/json',
        ...(body !== undefined && { 'content-type': options.contentType ?? 'application/json' }),
        ...(access.token !== undefined && { authorization: `Bearer ${access.token}` }),
      },
      ...(access.caCertificate !== '' && { ca: access.caCertificate }),
      ...(access.clientCertificate !== undefined && { cert: access.clientCertificate }),
      ...(access.clientKey !== undefined && { key: access.clientKey }),
      ...(options.signal !== undefined && { signal: options.signal }),
    };
    const outgoing = request(new URL(path, access.url), settings, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });

/** GETs JSON and fails on anything but 200. */
export const getJson = async <T = unknown>(access: Access, path: string): Promise<T> => {
  const { status, body } = await apiRequest(access, path);
  if (status !== 200) throw new Error(`GET ${path} of ${access.url} answered ${status}: ${body.slice(0, 500)}`);
  const value: T = JSON.parse(body);
  return value;
};

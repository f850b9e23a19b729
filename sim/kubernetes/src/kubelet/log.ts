import type { ApiResponse } from '../exchange/exchange.ts';
import type { Action } from '../resource.ts';
import { ApiError, badRequest, internalError } from '../status/api-error.ts';
import type { Connect, KubeletResponse } from './connect.ts';
import { chooseContainer } from './container.ts';
import { dialError } from './dial-error.ts';
import { logQuery } from './log-options.ts';
import { kubeletOrigin } from './node-address.ts';
import { nodeNameOf, podOf } from './pod.ts';

/** Of an error text that is handed on. */
const maximumText = 50_000;

const textOf = async (chunks: AsyncIterable<Uint8Array>): Promise<string> => {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.byteLength;
    if (size >= maximumText) break;
  }
  return Buffer.concat(parts).subarray(0, maximumText).toString();
};

/** What is said for a status whose body is not shown, and the reason that goes with it. */
const generic: Readonly<Record<number, readonly [reason: string, text: string]>> = {
  401: ['Unauthorized', 'the server has asked for the client to provide credentials'],
  404: ['NotFound', 'the server could not find the requested resource'],
  405: ['MethodNotAllowed', 'the server does not allow this method on the requested resource'],
  409: ['Conflict', 'the server reported a conflict'],
  422: ['Invalid', 'the server rejected our request due to an error in our request'],
  429: ['TooManyRequests', 'the server has received too many requests and has asked us to try again later'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: [
    'Timeout',
    'the server was unable to return a response in the time allotted, but may still be processing the request',
  ],
};

const genericText = (code: number, body: string): readonly [string, string] => {
  if (code === 403) return ['Forbidden', body];
  const known = generic[code];
  if (known) return known;
  return code > 500
    ? ['InternalError', `an error on the server (${JSON.stringify(body)}) has prevented the request from succeeding`]
    : ['', `the server responded with the status code ${code} but did not return more information`];
};

/** What a client reads when the kubelet refused. */
export const kubeletRefusal = (code: number, body: string, pod: string): ApiError => {
  if (code === 500) return internalError(body);
  if (code === 400) return badRequest(body);
  const [reason, text] = genericText(code, body);
  return new ApiError(code, reason, `${text} ( pods/log ${pod})`, { name: pod, kind: 'pods/log' });
};

const reach = async (connect: Connect, url: string, signal: AbortSignal): Promise<KubeletResponse> => {
  try {
    return await connect(url, signal);
  } catch (error) {
    throw new ApiError(500, '', `Get "${url}": ${dialError(error, url)}`);
  }
};

/** `pods/log`: whatever the kubelet has of it, as it comes. */
export const logAction =
  (connect: Connect): Action =>
  async (call): Promise<ApiResponse> => {
    const query = logQuery(call.query, call.name);
    const pod = podOf(call);
    const container = chooseContainer(pod, call.query.get('container') ?? '');
    const nodeName = nodeNameOf(pod);
    if (nodeName === '') return { kind: 'answer', code: 204, headers: {}, body: '' };
    const path = `/containerLogs/${call.namespace}/${call.name}/${container}`;
    const url = `${kubeletOrigin(call.context.api, nodeName)}${path}${query.size > 0 ? `?${query.toString()}` : ''}`;
    const { code, chunks } = await reach(connect, url, call.signal);
    if (code >= 300 && code < 400) {
      await textOf(chunks);
      throw new ApiError(500, '', `Get "${url}": redirects forbidden`);
    }
    if (code < 200 || code > 206) throw kubeletRefusal(code, await textOf(chunks), call.name);
    return { kind: 'stream', code: 200, headers: { 'content-type': 'text/plain' }, chunks };
  };

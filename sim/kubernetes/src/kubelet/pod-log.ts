import { ApiError, badRequest, internalError, invalidObject } from '../errors/api-error.ts';
import { type Cause, forbidden, invalid } from '../errors/field-errors.ts';
import type { ApiResponse } from '../http-messages.ts';
import type { Action } from '../resource.ts';
import { type Connect, dialError, type KubeletResponse } from './kubelet-client.ts';
import { chooseContainer, kubeletOrigin, podOf, scheduledNodeOf } from './pod-location.ts';

const subject = { group: '', plural: 'pods', kind: 'PodLogOptions' };

/** As the real server reads a flag: present and empty is true. */
export const flag = (query: URLSearchParams, name: string): boolean => {
  const value = query.get(name)?.toLowerCase();
  return value !== undefined && value !== 'false' && value !== '0';
};

const integer = (query: URLSearchParams, name: string): number | undefined => {
  const value = query.get(name);
  if (value === null) return undefined;
  const shown = JSON.stringify(value);
  if (!/^[+-]?\d+$/.test(value)) throw badRequest(`strconv.ParseInt: parsing ${shown}: invalid syntax`);
  if (BigInt.asIntN(64, BigInt(value)) !== BigInt(value)) {
    throw badRequest(`strconv.ParseInt: parsing ${shown}: value out of range`);
  }
  return Number(value);
};

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

const time = (query: URLSearchParams, name: string): string | undefined => {
  const value = query.get(name);
  if (value === null || value === '') return undefined;
  if (rfc3339.test(value) && !Number.isNaN(Date.parse(value))) return value.replace(/\.\d+/, '');
  const shown = JSON.stringify(value);
  throw badRequest(`parsing time ${shown} as "2006-01-02T15:04:05Z07:00": cannot parse ${shown} as "2006"`);
};

interface Numbers {
  tailLines: number | undefined;
  limitBytes: number | undefined;
  sinceSeconds: number | undefined;
}

const logCauses = (numbers: Numbers, sinceTime: string | undefined, stream: string | null): Cause[] => {
  const { tailLines, limitBytes, sinceSeconds } = numbers;
  const below = (name: keyof Numbers, minimum: number, text: string): Cause[] => {
    const value = numbers[name];
    return value !== undefined && value < minimum ? [invalid(name, value, text)] : [];
  };
  return [
    ...(tailLines === undefined ? [] : below('tailLines', 0, 'must be greater than or equal to 0')),
    ...(limitBytes === undefined ? [] : below('limitBytes', 1, 'must be greater than 0')),
    ...(sinceSeconds !== undefined && sinceTime !== undefined
      ? [forbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified')]
      : below('sinceSeconds', 1, 'must be greater than 0')),
    ...(stream === null ? [] : [forbidden('stream', 'may not be specified')]),
  ];
};

/** The query for the kubelet: only options that are set, in the order of Go's encoder. */
const logQuery = (query: URLSearchParams, pod: string): URLSearchParams => {
  const numbers = {
    tailLines: integer(query, 'tailLines'),
    limitBytes: integer(query, 'limitBytes'),
    sinceSeconds: integer(query, 'sinceSeconds'),
  };
  const sinceTime = time(query, 'sinceTime');
  const causes = logCauses(numbers, sinceTime, query.get('stream'));
  if (causes.length > 0) throw invalidObject(subject, pod, causes);
  const result = new URLSearchParams();
  for (const name of ['follow', 'previous', 'timestamps']) if (flag(query, name)) result.set(name, 'true');
  for (const [name, value] of Object.entries(numbers)) if (value !== undefined) result.set(name, String(value));
  if (sinceTime !== undefined) result.set('sinceTime', sinceTime);
  result.sort();
  return result;
};

/** Limit of an error text that is passed on. */
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

/** Reason and text for a status whose body is not shown. */
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

/** The error for the client when the kubelet refuses. */
export const kubeletError = (code: number, body: string, pod: string): ApiError => {
  if (code === 500) return internalError(body);
  if (code === 400) return badRequest(body);
  const [reason, text] = genericText(code, body);
  return new ApiError(code, reason, `${text} ( pods/log ${pod})`, { name: pod, kind: 'pods/log' });
};

const connectOrFail = async (connect: Connect, url: string, signal: AbortSignal): Promise<KubeletResponse> => {
  try {
    return await connect(url, signal);
  } catch (error) {
    throw new ApiError(500, '', `Get "${url}": ${dialError(error, url)}`);
  }
};

/** `pods/log`: streams the log from the kubelet. */
export const logAction =
  (connect: Connect): Action =>
  async (call): Promise<ApiResponse> => {
    const query = logQuery(call.query, call.name);
    const pod = podOf(call);
    const container = chooseContainer(pod, call.query.get('container') ?? '');
    const nodeName = scheduledNodeOf(pod);
    if (nodeName === '') return { kind: 'answer', code: 204, headers: {}, body: '' };
    const path = `/containerLogs/${call.namespace}/${call.name}/${container}`;
    const url = `${kubeletOrigin(call.context.api, nodeName)}${path}${query.size > 0 ? `?${query.toString()}` : ''}`;
    const { code, chunks } = await connectOrFail(connect, url, call.signal);
    if (code >= 300 && code < 400) {
      await textOf(chunks);
      throw new ApiError(500, '', `Get "${url}": redirects forbidden`);
    }
    if (code < 200 || code > 206) throw kubeletError(code, await textOf(chunks), call.name);
    return { kind: 'stream', code: 200, headers: { 'content-type': 'text/plain' }, chunks };
  };

import { badRequest, invalidObject } from '../status/api-error.ts';
import { type Cause, forbidden, invalid } from '../status/cause.ts';

const subject = { group: '', plural: 'pods', kind: 'PodLogOptions' };

/** As the real server reads a flag: present and empty is yes. */
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

/** The query for the kubelet: only what is in use, in the order in which Go encodes it. */
export const logQuery = (query: URLSearchParams, pod: string): URLSearchParams => {
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

import { createHash } from 'node:crypto';
import type { Answer, ApiRequest } from './request.ts';

/**
 * REST API, "Best practices": what has not changed is a 304, which costs nothing of the limit. A tag is good for one token only
 * (`github/docs#34689`), so those of an App are worth nothing after an hour.
 */
export const withTag = ({ method, headers }: ApiRequest, answer: Answer): Answer => {
  if (method !== 'GET' || answer.status !== 200) return answer;
  const hash = createHash('sha256');
  hash.update(headers['authorization'] ?? '').update(JSON.stringify(answer.body));
  const etag = `W/"${hash.digest('hex')}"`;
  const tagged = { ...answer.headers, etag };
  return headers['if-none-match'] === etag ? { status: 304, headers: tagged } : { ...answer, headers: tagged };
};

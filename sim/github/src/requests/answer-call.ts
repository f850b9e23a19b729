import type { CallFault } from '../github.ts';
import type { World } from '../world.ts';
import { answerRequest, grantOf, whoAsks } from './answer-request.ts';
import { withTag } from './etag.ts';
import { badCredentials, primaryLimit, secondaryLimit } from './refusals.ts';
import type { Answer, ApiRequest } from './request.ts';

/** A call of the REST API, with what it costs: limits come before everything else, and each answer tells what is left. */
export const answerCall = (world: World, request: ApiRequest, fault: CallFault | undefined): Answer => {
  const { limit } = world;
  const who = whoAsks(world, request);
  if (fault === 'expired token') {
    const grant = grantOf(world, request);
    if (grant !== undefined) grant.expiresAt = world.clock.now();
    return badCredentials();
  }
  const limited = typeof fault === 'object' && 'limit' in fault ? fault : undefined;
  if (limited?.limit === 'primary') limit.exhaust(who);
  if (limited?.limit === 'secondary') limit.block(who, limited.seconds, limited.status ?? 403, limited.tells ?? true);
  // The one call that costs nothing (REST API, "Rate limit").
  if (request.path === '/rate_limit') return answerRequest(world, request);
  const pause = limit.blocked(who);
  if (pause !== undefined) return secondaryLimit(pause.status, pause.retryAfter);
  if (limit.isOver(who)) return primaryLimit(limited?.status ?? 403, who, limit.headers(who));
  const answer = withTag(request, answerRequest(world, request));
  if (answer.status !== 304) limit.spend(who);
  return { ...answer, headers: { ...limit.headers(who), ...answer.headers } };
};

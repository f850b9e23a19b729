import assert from 'node:assert/strict';
import type { Caller } from './cluster.ts';
import { read } from './read.ts';
import type { BehaviourContext } from './behaviour-context.ts';

/** The user as which the server authenticates a caller. */
export const whoAmI = async (context: BehaviourContext, as: Caller): Promise<unknown> => {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const answer = await context.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', review, { as });
  assert.equal(answer.code, 201, answer.text);
  return read(answer.json, 'status.userInfo');
};

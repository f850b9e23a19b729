import assert from 'node:assert/strict';
import type { Caller } from './cluster.ts';
import { read } from './read.ts';
import type { Trial } from './trial.ts';

/** The user as which the server authenticates a caller. */
export const whoAmI = async (trial: Trial, as: Caller): Promise<unknown> => {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const answer = await trial.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', review, { as });
  assert.equal(answer.code, 201, answer.text);
  return read(answer.json, 'status.userInfo');
};

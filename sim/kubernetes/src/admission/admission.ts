import type { User } from '../authentication/user.ts';
import { assertNoEscalation } from '../authorization/escalation-check.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import { assertNodeRestriction } from './node-restriction.ts';

/** A write that the authorizer has allowed, before it is stored. */
export interface AdmissionAttributes {
  operation: 'CREATE' | 'UPDATE' | 'DELETE';
  resource: Pick<Resource, 'group' | 'plural' | 'kind'>;
  subresource: string;
  namespace: string;
  /** Of the object; '' when the server is yet to generate it. */
  name: string;
  /** As in the path: '' for a POST to a collection. */
  pathName: string;
  /** The new object. Absent on delete. */
  object?: KubeObject | undefined;
  /** The stored object. Absent on create. */
  old?: KubeObject | undefined;
}

/** Checks that need the content of a write; throws Forbidden. The server's own controllers skip them. */
export const admit = (write: AdmissionAttributes, user: User, api: LoopbackClient): void => {
  assertNodeRestriction(write, user, api);
  assertNoEscalation(write, user, api);
};

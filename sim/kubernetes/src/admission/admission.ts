import type { User } from '../authentication/user.ts';
import { assertNoEscalation } from '../authorization/escalation-check.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import { assertNodeRestriction } from './node-restriction.ts';

/** A write that a client wants and may make as far as verbs and resources go, before anything of it is stored. */
export interface AdmissionAttributes {
  operation: 'CREATE' | 'UPDATE' | 'DELETE';
  resource: Pick<Resource, 'group' | 'plural' | 'kind'>;
  subresource: string;
  namespace: string;
  /** Of the object; '' when it is yet to be made up. */
  name: string;
  /** As the path says it: '' for a POST to a collection. */
  pathName: string;
  /** As the client wants it. Absent on delete. */
  object?: KubeObject | undefined;
  /** As it stands. Absent on create. */
  old?: KubeObject | undefined;
}

/** What only the content of a write can tell: throws Forbidden. The server's own controllers do not pass here. */
export const admit = (write: AdmissionAttributes, user: User, api: LoopbackClient): void => {
  assertNodeRestriction(write, user, api);
  assertNoEscalation(write, user, api);
};

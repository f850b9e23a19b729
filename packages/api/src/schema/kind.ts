import { apiVersionOf, defineResource, type KubeObject, type ObjectMeta, type Resource } from '@tartan/kube';
import type { z } from 'zod';
import type { KindNames } from '../names.ts';
import type { CelRule } from './fields.ts';

export interface CustomResource<Spec, Status> extends KubeObject {
  spec: Spec;
  status?: Status;
}

/** A column of `kubectl get`. The server uses the first match of the path. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  /** Above 0: only with `-o wide`. */
  readonly priority?: number;
}

/** The paths for `kubectl scale`. */
interface Scale {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath: string;
}

/** The definition of a kind; types, CRD and docs are derived from it. */
export interface KindDescription<Spec extends z.ZodType, Status extends z.ZodType> {
  readonly names: KindNames;
  /** The text of `kubectl explain`. */
  readonly description: string;
  readonly spec: Spec;
  readonly status?: Status;
  /** Rules over the whole object, with spec and status. */
  readonly rules?: readonly CelRule[];
  readonly columns: readonly Column[];
  readonly scale?: Scale;
  readonly categories: readonly string[];
  /** Cluster API reads it, by its contracts v1beta1 and v1beta2. */
  readonly contract: boolean;
}

export interface Kind<Spec extends z.ZodType, Status extends z.ZodType> extends KindDescription<Spec, Status> {
  readonly resource: Resource<CustomResource<z.output<Spec>, z.output<Status>>>;
  /** An object to create, with the server's defaults. Throws for a spec that the server would reject. */
  make(object: { metadata: ObjectMeta; spec?: z.input<Spec> }): CustomResource<z.output<Spec>, z.output<Status>>;
}

/** The objects of a kind as the server returns them: with defaults. */
export type ObjectOf<Of> =
  Of extends Kind<infer Spec, infer Status> ? CustomResource<z.output<Spec>, z.output<Status>> : never;

export const defineKind = <Spec extends z.ZodType, Status extends z.ZodType = z.ZodNever>(
  description: KindDescription<Spec, Status>,
): Kind<Spec, Status> => {
  const { group, version, kind, plural, namespaced } = description.names;
  return {
    ...description,
    resource: defineResource({ group, version, kind, plural, namespaced }),
    make: ({ metadata, spec }) => ({
      apiVersion: apiVersionOf({ group, version }),
      kind,
      metadata,
      spec: description.spec.parse(spec ?? {}),
    }),
  };
};

export const column = (
  name: string,
  jsonPath: string,
  options: Partial<Pick<Column, 'type' | 'description' | 'priority'>> = {},
): Column => ({ name, type: 'string', jsonPath, ...options });

export const ageColumn = column('Age', '.metadata.creationTimestamp', { type: 'date' });
export const conditionPath = (type: string, field: 'status' | 'reason' | 'message'): string =>
  `.status.conditions[?(@.type=="${type}")].${field}`;

import type { customResourceDefinitions } from '@tartan/kube';
import { contractLabels } from '../names.ts';
import type { KindDescription } from '../schema/kind.ts';
import type { z } from 'zod';
import { type StructuralSchema, toStructural } from './structural-schema.ts';

export type CustomResourceDefinition = NonNullable<typeof customResourceDefinitions.ofType>;
export type AnyKind = KindDescription<z.ZodType, z.ZodType>;

/** The schema of whole objects. What every object has (`metadata` and so on) is for the server to add. */
export const schemaOf = ({ description, spec, status, rules }: AnyKind): StructuralSchema => {
  const wanted = toStructural(spec);
  return {
    description,
    type: 'object',
    ...(wanted.default === undefined ? { required: ['spec'] } : {}),
    properties: { spec: wanted, ...(status === undefined ? {} : { status: toStructural(status) }) },
    ...(rules === undefined ? {} : { 'x-kubernetes-validations': rules.map((rule) => ({ ...rule })) }),
  };
};

/** The CustomResourceDefinition of a kind. */
export const definitionOf = (kind: AnyKind): CustomResourceDefinition => {
  const { group, version, plural, singular, shortNames, namespaced, kind: kindName } = kind.names;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...(kind.contract ? { labels: { ...contractLabels } } : {}) },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind: kindName,
        listKind: `${kindName}List`,
        plural,
        singular,
        shortNames: [...shortNames],
        categories: [...kind.categories],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          additionalPrinterColumns: kind.columns.map((column) => ({ ...column })),
          ...(kind.status === undefined
            ? {}
            : { subresources: { status: {}, ...(kind.scale === undefined ? {} : { scale: { ...kind.scale } }) } }),
          schema: { openAPIV3Schema: schemaOf(kind) },
        },
      ],
    },
  };
};

import { type AnyKind, schemaOf } from '@tartan/api/crds';
import { type Client, isKubeError, type KubeObject, type Live, type Resource } from '@tartan/kube';
import { kinds } from '../../packages/api/src/kinds/index.ts';
import { validateObject } from '../../sim/kubernetes/src/schema/validation/custom-resource.ts';

export interface StoredObjects {
  /** How many objects of each kind there are. */
  readonly count: Readonly<Record<string, number>>;
  /** The errors of invalid objects, a sentence each. */
  readonly invalid: readonly string[];
}

/**
 * Whether all stored objects of Tartan's kinds are valid by the definitions of this checkout, and can be written unchanged. On updates the
 * API server ignores errors in unchanged parts (ratcheting), so this also validates objects against the schema.
 */
export const checkStoredObjects = async (client: Client): Promise<StoredObjects> => {
  const invalid: string[] = [];
  const count: Record<string, number> = {};
  for (const kind of kinds) {
    const resource: Resource<KubeObject> = kind.resource;
    const { items } = await client.list(resource);
    count[resource.kind] = items.length;
    for (const object of items) {
      const name = `${resource.kind} ${object.metadata.name}`;
      invalid.push(...violations(kind, object).map((each) => `${name}: ${each}`));
      for (const subresource of kind.status === undefined ? [undefined] : [undefined, 'status']) {
        const refused = await refusal(client, resource, object, subresource);
        if (refused !== undefined) invalid.push(`${name}: an update of its ${subresource ?? 'object'}: ${refused}`);
      }
    }
  }
  return { count, invalid };
};

const violations = (kind: AnyKind, object: Live<KubeObject>): readonly string[] => {
  const [plain, schema]: Parameters<typeof validateObject> = JSON.parse(JSON.stringify([object, schemaOf(kind)]));
  return validateObject(plain, schema, undefined).map(({ field, message }) => `${field}: ${message}`);
};

/** Why the server refuses an unchanged write (dry run). Objects that another client changes meanwhile are read again. */
const refusal = async (
  client: Client,
  resource: Resource<KubeObject>,
  object: Live<KubeObject>,
  subresource: string | undefined,
): Promise<string | undefined> => {
  let current = object;
  const { namespace, name } = object.metadata;
  for (;;)
    try {
      await client.update(resource, current, { dryRun: true, ...(subresource !== undefined && { subresource }) });
      return undefined;
    } catch (error) {
      if (isKubeError(error, 'notFound')) return undefined;
      if (!isKubeError(error, 'conflict')) return String(error);
      current = await client.get(resource, { name, ...(namespace !== undefined && { namespace }) });
    }
};

import { configError } from '../../guest/guests.ts';
import type { Pod } from '../snapshot.ts';

/**
 * Expands references in a value as Kubernetes does: `$(NAME)` is the value of NAME, `$$` is a dollar; an unknown or unclosed reference
 * stays unchanged. Inserted values are not expanded again.
 */
export const expandReferences = (text: string, valueOf: (name: string) => string | undefined): string =>
  text.replaceAll(/\$\$|\$\(([^)]*)\)/g, (whole, name: string | undefined) =>
    name === undefined ? '$' : (valueOf(name) ?? whole),
  );

export interface HostAddress {
  readonly hostIP: string | undefined;
}

/** `metadata.labels['example.com/a']`. */
const subscript = /^metadata\.(labels|annotations)\['(.*)'\]$/;

/** The value of a field of the Pod. `undefined`: not available before the VM runs, which is never the same as empty (INC-425). */
export const resolveFieldRef = (pod: Pod, path: string, { hostIP }: HostAddress): string | undefined => {
  const { metadata, spec } = pod;
  const [, map, key] = subscript.exec(path) ?? [];
  // A missing label is empty, as in Kubernetes.
  if (map !== undefined && key !== undefined)
    return (map === 'labels' ? metadata?.labels : metadata?.annotations)?.[key] ?? '';
  const fields: Readonly<Record<string, string | undefined>> = {
    'metadata.name': metadata?.name,
    'metadata.namespace': metadata?.namespace,
    'metadata.uid': metadata?.uid,
    'spec.nodeName': spec?.nodeName,
    'spec.serviceAccountName': spec?.serviceAccountName,
  };
  if (Object.hasOwn(fields, path)) return fields[path] ?? '';
  return path === 'status.hostIP' || path === 'status.hostIPs' ? hostIP : undefined;
};

/** A ConfigMap or Secret in the Pod's namespace. */
export interface ConfigSource {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
}

interface EnvironmentInputs extends HostAddress {
  /** Its data as text; `undefined` if the object does not exist. */
  readonly dataOf: (source: ConfigSource) => Readonly<Record<string, string>> | undefined;
}

type Container = NonNullable<Pod['spec']>['containers'][number];
type EnvVar = NonNullable<Container['env']>[number];
type ValueFrom = NonNullable<EnvVar['valueFrom']>;

/** The guest turns them into shell lines: invalid names must not become one. */
const namePattern = /^[-._A-Za-z][-._A-Za-z0-9]*$/;

/** The object of a reference. */
export const sourceOf = (
  configMap: { readonly name?: string } | undefined,
  secret: { readonly name?: string } | undefined,
): ConfigSource | undefined => {
  if (configMap !== undefined) return { kind: 'ConfigMap', name: configMap.name ?? '' };
  return secret && { kind: 'Secret', name: secret.name ?? '' };
};

/** `undefined`: optional and missing. */
const dataOf = ({ kind, name }: ConfigSource, optional: boolean | undefined, inputs: EnvironmentInputs) => {
  const data = inputs.dataOf({ kind, name });
  if (data !== undefined || optional === true) return data;
  throw configError(`The ${kind} ${name} is not there. Make it, or mark the reference as optional.`);
};

/** `undefined`: optional and missing, so the variable is skipped. */
const valueFrom = (pod: Pod, name: string, from: ValueFrom, inputs: EnvironmentInputs): string | undefined => {
  const { configMapKeyRef, fieldRef, secretKeyRef } = from;
  const source = sourceOf(configMapKeyRef, secretKeyRef);
  const ref = configMapKeyRef ?? secretKeyRef;
  if (source !== undefined && ref !== undefined) {
    const data = dataOf(source, ref.optional, inputs) ?? {};
    if (Object.hasOwn(data, ref.key)) return data[ref.key];
    if (ref.optional === true) return undefined;
    throw configError(
      `The ${source.kind} ${source.name} has no key ${ref.key}. Add it, or mark the reference as optional.`,
    );
  }
  const value = fieldRef === undefined ? undefined : resolveFieldRef(pod, fieldRef.fieldPath, inputs);
  if (value !== undefined) return value;
  const what = fieldRef?.fieldPath ?? Object.keys(from).join(', ');
  throw configError(
    `The variable ${name} takes its value from ${what}, which a virtual machine cannot have before it is on. Take it out.`,
  );
};

const variablesFromSources = (container: Container, inputs: EnvironmentInputs) => {
  const variables = new Map<string, string>();
  const skipped: string[] = [];
  for (const { configMapRef, prefix = '', secretRef } of container.envFrom ?? []) {
    const source = sourceOf(configMapRef, secretRef);
    const data = source && dataOf(source, (configMapRef ?? secretRef)?.optional, inputs);
    for (const [key, value] of Object.entries(data ?? {})) {
      const name = `${prefix}${key}`;
      if (namePattern.test(name)) variables.set(name, value);
      else skipped.push(name);
    }
  }
  return { variables, skipped };
};

/** The objects to read for the environment. */
export const sourcesOf = ({ env = [], envFrom = [] }: Container): readonly ConfigSource[] =>
  [
    ...envFrom.map(({ configMapRef, secretRef }) => sourceOf(configMapRef, secretRef)),
    ...env.map(({ valueFrom: from }) => sourceOf(from?.configMapKeyRef, from?.secretKeyRef)),
  ].filter((source) => source !== undefined);

/**
 * The container's variables by Kubernetes' rules: `envFrom` first, in order, then `env` overrides it. Literal values may refer to earlier
 * variables; values from objects are used as they are. `skipped`: keys of envFrom that are invalid variable names, which Kubernetes skips
 * and reports. Throws GuestConfigError.
 */
export const environmentOf = (pod: Pod, container: Container, inputs: EnvironmentInputs) => {
  const { variables, skipped } = variablesFromSources(container, inputs);
  for (const { name, value, valueFrom: from } of container.env ?? []) {
    if (!namePattern.test(name))
      throw configError(`${JSON.stringify(name)} cannot be the name of a variable in a guest. Rename it.`);
    const resolved =
      value !== undefined && value !== ''
        ? expandReferences(value, (other) => variables.get(other))
        : from === undefined
          ? ''
          : valueFrom(pod, name, from, inputs);
    if (resolved !== undefined) variables.set(name, resolved);
  }
  return { variables, skipped };
};

import { ContainerConfigError, type Container, type Pod } from './pod.ts';

/** Secrets and ConfigMaps of the Pod's namespace, as text. `undefined`: it does not exist. */
export interface ConfigSource {
  secret(name: string): Promise<Readonly<Record<string, string>> | undefined>;
  configMap(name: string): Promise<Readonly<Record<string, string>> | undefined>;
}

type Variable = NonNullable<Container['env']>[number];

/** Expands `$(NAME)` of known variables; `$$(NAME)` is the text `$(NAME)`. Unknown ones stay unchanged. */
export const expand = (text: string, known: Readonly<Record<string, string>>): string =>
  text.replace(/\$(\$|\(([A-Za-z_.][\w.-]*)\))/g, (whole, rest: string, name?: string) =>
    rest === '$' ? '$' : (known[name ?? ''] ?? whole),
  );

/** A field of the Pod for the downward API. */
export const fieldOf = (pod: Pod, podIP: string, hostIP: string, path: string): string => {
  const { name, namespace = '', uid, labels = {}, annotations = {} } = pod.metadata;
  const entry = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (entry) return (entry[1] === 'labels' ? labels : annotations)[entry[2] ?? ''] ?? '';
  const known: Readonly<Record<string, string>> = {
    'metadata.name': name,
    'metadata.namespace': namespace,
    'metadata.uid': uid,
    'spec.nodeName': pod.spec?.nodeName ?? '',
    'spec.serviceAccountName': pod.spec?.serviceAccountName ?? '',
    'status.podIP': podIP,
    'status.hostIP': hostIP,
  };
  const value = known[path];
  if (value === undefined) throw new ContainerConfigError(`this stand-in for a kubelet knows no field ${path}`);
  return value;
};

const entryOf = async (
  what: string,
  read: (name: string) => Promise<Readonly<Record<string, string>> | undefined>,
  { name = '', key, optional = false }: { name?: string; key: string; optional?: boolean },
): Promise<string | undefined> => {
  const data = await read(name);
  if (data?.[key] !== undefined || optional) return data?.[key];
  throw new ContainerConfigError(
    data === undefined ? `${what} "${name}" not found` : `couldn't find key ${key} in ${what} ${name}`,
  );
};

/** The environment of a container: common variables, then `envFrom`, then `env`, where each may refer to those before it. */
export const environmentOf = async (
  container: Container,
  {
    usual,
    field,
    stored,
  }: { usual: Readonly<Record<string, string>>; field: (path: string) => string; stored: ConfigSource },
): Promise<Record<string, string>> => {
  const env: Record<string, string> = { ...usual };
  for (const { prefix = '', secretRef, configMapRef } of container.envFrom ?? []) {
    const { name = '', optional = false } = secretRef ?? configMapRef ?? {};
    const data = await (secretRef ? stored.secret(name) : stored.configMap(name));
    if (data === undefined && !optional)
      throw new ContainerConfigError(`${secretRef ? 'secret' : 'configmap'} "${name}" not found`);
    for (const [key, value] of Object.entries(data ?? {})) env[`${prefix}${key}`] = value;
  }
  const valueOf = async ({ value, valueFrom }: Variable): Promise<string | undefined> => {
    if (valueFrom?.fieldRef) return field(valueFrom.fieldRef.fieldPath);
    if (valueFrom?.secretKeyRef) return entryOf('secret', stored.secret, valueFrom.secretKeyRef);
    if (valueFrom?.configMapKeyRef) return entryOf('configmap', stored.configMap, valueFrom.configMapKeyRef);
    if (valueFrom) throw new ContainerConfigError('this stand-in for a kubelet knows no such source of a variable');
    return expand(value ?? '', env);
  };
  for (const variable of container.env ?? []) {
    const value = await valueOf(variable);
    if (value !== undefined) env[variable.name] = value;
  }
  return env;
};

import { type Fields, listOf, objectsOf, textOf } from '../fields.ts';

/** Where a container finds the token of its ServiceAccount. */
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const volumePrefix = 'kube-api-access-';
/** An hour and seven seconds: by the odd number the real server knows tokens that nobody asked for by hand. */
const expirationSeconds = 3607;

const tokenVolume = (name: string): Fields => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
    defaultMode: 0o644,
  },
});

/** Gives every container that has nothing at that path the token of its ServiceAccount. `suffix` makes the volume's name. */
export const mountToken = (spec: Fields, suffix: () => string): void => {
  const existing = objectsOf(spec['volumes']).find((volume) => textOf(volume['name']).startsWith(volumePrefix));
  const name = existing ? textOf(existing['name']) : `${volumePrefix}${suffix()}`;
  const without = [...objectsOf(spec['initContainers']), ...objectsOf(spec['containers'])].filter(
    (container) => !objectsOf(container['volumeMounts']).some((mount) => mount['mountPath'] === mountPath),
  );
  for (const container of without) {
    container['volumeMounts'] = [...listOf(container['volumeMounts']), { name, readOnly: true, mountPath }];
  }
  if (!existing && without.length > 0) spec['volumes'] = [...listOf(spec['volumes']), tokenVolume(name)];
};

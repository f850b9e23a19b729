import { copy, equal, type KubeObject } from '../object.ts';
import type { Controller } from './controller.ts';
import { draft } from './draft.ts';
import { inEveryNamespace } from './in-every-namespace.ts';
import type { OnError } from './key-queue.ts';

const name = 'kube-root-ca.crt';
const annotation = 'kubernetes.io/description';
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. ' +
  'No other usage is guaranteed across distributions of Kubernetes clusters.';

/** What the ConfigMap should be instead of `current`; undefined when it is right. */
const wantedRootCa = (caCertificate: string, current: KubeObject | undefined): KubeObject | undefined => {
  const data = { 'ca.crt': caCertificate };
  if (!current) return draft('v1', 'ConfigMap', { name, annotations: { [annotation]: description } }, { data });
  if (equal(current['data'], data) && current.metadata.annotations?.[annotation]) return undefined;
  const changed = copy(current);
  changed['data'] = data;
  changed.metadata.annotations = { ...changed.metadata.annotations, [annotation]: description };
  return changed;
};

/** The certificate authority of the API server, where every Pod can mount it. */
export const rootCaPublisher = (caCertificate: string, onError: OnError): Controller =>
  inEveryNamespace(
    {
      name: 'root-ca',
      plural: 'configmaps',
      object: name,
      wanted: (current) => wantedRootCa(caCertificate, current),
    },
    onError,
  );

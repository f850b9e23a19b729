import type { Controller } from './controller.ts';
import { draft } from './draft.ts';
import { inEveryNamespace } from './in-every-namespace.ts';
import type { OnError } from './key-queue.ts';

/** The ServiceAccount of Pods that name none. */
export const serviceAccounts = (onError: OnError): Controller =>
  inEveryNamespace(
    {
      name: 'service-accounts',
      plural: 'serviceaccounts',
      object: 'default',
      wanted: (current) => (current ? undefined : draft('v1', 'ServiceAccount', { name: 'default' })),
    },
    onError,
  );

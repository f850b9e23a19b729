import { controllerManager } from '../authentication/user.ts';
import { isObject, type KubeObject } from '../object.ts';
import { watch } from './runtime/watch.ts';
import { type Controller, type OnError, workQueue } from './runtime/workqueue.ts';

const namespace = 'kube-system';

/** Timers of some runtimes are limited to 24 days; a token that lives longer is checked again in between. */
const longestWait = 86_400_000;

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Remaining milliseconds of a bootstrap token; Infinity without an expiration. An invalid expiration counts as expired. */
export const timeLeft = (secret: KubeObject, now: number): number => {
  if (secret['type'] !== 'bootstrap.kubernetes.io/token') return Number.POSITIVE_INFINITY;
  const encoded = isObject(secret['data']) ? secret['data']['expiration'] : undefined;
  if (typeof encoded !== 'string' || encoded === '') return Number.POSITIVE_INFINITY;
  const expiration = Buffer.from(encoded, 'base64').toString();
  const at = rfc3339.test(expiration) ? Date.parse(expiration) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
};

/** Removes bootstrap tokens that have expired. */
export const tokenCleaner = (onError: OnError): Controller => ({
  name: 'token-cleaner',
  start: (api) => {
    const secrets = api.find('', 'secrets');
    if (!secrets) return () => {};
    const reconcile = (name: string): void => {
      const secret = api.get(secrets, namespace, name);
      if (!secret) return;
      const left = timeLeft(secret, api.clock.now());
      if (left === 0) {
        const { uid } = secret.metadata;
        api.delete(secrets, namespace, name, controllerManager, { preconditions: { uid } });
      } else if (left !== Number.POSITIVE_INFINITY) {
        queue.addAfter(name, Math.min(left, longestWait));
      }
    };
    const queue = workQueue({ clock: api.clock, reconcile, onError });
    const stop = watch(api, '', 'secrets', (current) => {
      if (current?.metadata.namespace === namespace) queue.add(current.metadata.name);
    });
    return () => {
      stop();
      queue.stop();
    };
  },
});

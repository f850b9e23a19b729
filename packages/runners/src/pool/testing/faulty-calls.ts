import { KubeError, type Transport } from '@tartan/kube';

type Send = Transport['send'];

/**
 * All calls of a process, to Kubernetes and to GitHub, in one count; watches and lists of caches are left out. `crash`: the call of that
 * number is carried out, and the process never hears of it, nor of anything else. `lost`: only this one answer is lost. `refused`: that one
 * call does not arrive.
 */
export const faultyCalls = (at: number, fault: 'crash' | 'lost' | 'refused' | 'none') => {
  let calls = 0;
  let isDead = false;
  const names: string[] = [];
  const through = async <Answer>(name: string, call: () => Promise<Answer>, cut: () => Error): Promise<Answer> => {
    if (isDead) throw cut();
    calls += 1;
    names.push(name);
    if (calls !== at || fault === 'none') return call();
    if (fault === 'refused') throw cut();
    if (fault === 'crash') isDead = true;
    await call();
    throw cut();
  };
  return {
    names,
    get isDead() {
      return isDead;
    },
    between:
      (send: Send): Send =>
      (request) => {
        const cut = (): Error => new KubeError('unreachable', 'the connection was cut');
        if (isDead) return Promise.reject(cut());
        const [path = '', query = ''] = request.path.split('?');
        if (request.method === 'GET' && /watch=|limit=/.test(query) && !query.includes('labelSelector'))
          return send(request);
        return through(`${request.method} ${path}`, () => send(request), cut);
      },
    onFetch:
      (ask: typeof fetch): typeof fetch =>
      (input, init) =>
        through(
          `GitHub ${init?.method ?? 'GET'} ${input instanceof Request ? input.url : String(input)}`,
          () => ask(input, init),
          () => new TypeError('fetch failed'),
        ),
  };
};

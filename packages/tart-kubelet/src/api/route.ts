import { ApiProblem, badRequest } from './problem.ts';
import type { ContainerName, PodName } from './pod-runtime.ts';

/** What a request is about. */
export type Route =
  | { readonly kind: 'containerLogs'; readonly container: ContainerName }
  | { readonly kind: 'exec'; readonly container: ContainerName }
  | { readonly kind: 'attach'; readonly container: ContainerName }
  | { readonly kind: 'portForward'; readonly pod: PodName }
  | { readonly kind: 'pods' }
  | { readonly kind: 'metrics' }
  | { readonly kind: 'resourceMetrics' }
  | { readonly kind: 'health' };

export interface Target {
  readonly route: Route;
  readonly query: URLSearchParams;
}

const plain: Readonly<Record<string, Route>> = {
  '/pods': { kind: 'pods' },
  '/metrics': { kind: 'metrics' },
  '/metrics/resource': { kind: 'resourceMetrics' },
  '/healthz': { kind: 'health' },
};

/** Names of Kubernetes: short, lower case, and nothing by which a path could go up. */
const namePattern = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

const namesIn = (path: string, count: number): string[] => {
  const names = path.split('/').slice(2);
  if (names.length !== count) throw new ApiProblem(404, 'There is nothing at this path');
  if (!names.every((name) => namePattern.test(name))) throw badRequest('The path holds what is no name in Kubernetes');
  return names;
};

const containerIn = (path: string): ContainerName => {
  const [namespace = '', pod = '', container = ''] = namesIn(path, 3);
  return { namespace, pod, container };
};

const routeOf = (path: string): Route => {
  const simple = Object.hasOwn(plain, path) ? plain[path] : undefined;
  if (simple) return simple;
  const [, first = ''] = path.split('/');
  switch (first) {
    case 'containerLogs':
    case 'exec':
    case 'attach':
      return { kind: first, container: containerIn(path) };
    case 'portForward': {
      const [namespace = '', pod = ''] = namesIn(path, 2);
      return { kind: first, pod: { namespace, pod } };
    }
    default:
      throw new ApiProblem(404, 'There is nothing at this path');
  }
};

/** Those that become something else than HTTP. */
const isStreaming = ({ kind }: Route): boolean => kind === 'exec' || kind === 'attach' || kind === 'portForward';

/** Total but for ApiProblem. Percent signs are not decoded: no name needs them. */
export const parseTarget = (method: string, url: string): Target => {
  const [path = '', ...query] = url.split('?');
  const route = routeOf(path);
  const methods = isStreaming(route) ? ['GET', 'POST'] : ['GET', 'HEAD'];
  if (!methods.includes(method)) throw new ApiProblem(405, `Only ${methods.join(' and ')} are allowed here`);
  return { route, query: new URLSearchParams(query.join('?')) };
};

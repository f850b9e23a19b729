import type { Route } from '../route.ts';

/** A right on `nodes/<subresource>` of this node. */
export interface Permission {
  readonly verb: 'get' | 'create';
  readonly subresource: string;
}

/**
 * What one must be allowed to do, in the words of Kubernetes' roles; any one of them is enough. Narrow ones come first, so that who reads
 * Pods or health needs no `nodes/proxy`, which is as good as root. To run something takes `create`, also when a WebSocket starts with GET.
 */
export const permissionsFor = ({ kind }: Route): readonly Permission[] => {
  switch (kind) {
    case 'exec':
    case 'attach':
    case 'portForward':
      return [{ verb: 'create', subresource: 'proxy' }];
    case 'containerLogs':
      return [{ verb: 'get', subresource: 'proxy' }];
    case 'metrics':
    case 'resourceMetrics':
      return [{ verb: 'get', subresource: 'metrics' }];
    case 'pods':
      return [
        { verb: 'get', subresource: 'pods' },
        { verb: 'get', subresource: 'proxy' },
      ];
    case 'health':
      return [
        { verb: 'get', subresource: 'healthz' },
        { verb: 'get', subresource: 'proxy' },
      ];
  }
};

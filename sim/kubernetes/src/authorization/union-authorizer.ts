import { masters } from '../authentication/user.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import type { Authorizer, RuleResolver } from './authorizer.ts';
import { nodeRules } from './bootstrap-policy.ts';
import { nodeAuthorizer, nodeGraph } from './node-authorizer.ts';
import { rbacAuthorizer, roleCache } from './rbac-authorizer.ts';

export interface Authorization {
  authorize: Authorizer;
  roles: RuleResolver;
  stop(): void;
}

/** As a real server with `--authorization-mode=Node,RBAC`: a request is refused if neither authorizer allows it. */
export const nodeAndRbacAuthorizer = (api: LoopbackClient): Authorization => {
  const graph = nodeGraph(api);
  const book = roleCache(api);
  const authorizers = [nodeAuthorizer(graph, nodeRules), rbacAuthorizer(book)];
  return {
    authorize: (attributes) => {
      if (attributes.user.groups.includes(masters)) return { allowed: true, reason: '' };
      const reasons: string[] = [];
      for (const authorize of authorizers) {
        const verdict = authorize(attributes);
        if (verdict.allowed) return verdict;
        if (verdict.reason !== '') reasons.push(verdict.reason);
      }
      return { allowed: false, reason: reasons.join('\n') };
    },
    roles: book,
    stop: () => {
      graph.stop();
      book.stop();
    },
  };
};

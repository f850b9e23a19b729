import type { Api } from '../api/api.ts';
import type { Authorizer, Roles } from './authorizer.ts';
import { nodeAuthorizer } from './nodes/node-authorizer.ts';
import { nodeGraph } from './nodes/node-graph.ts';
import { nodeRules } from './roles/bootstrap-roles.ts';
import { roleAuthorizer } from './roles/role-authorizer.ts';
import { roleBook } from './roles/role-book.ts';
import { masters } from './user.ts';

export interface Authorization {
  authorize: Authorizer;
  roles: Roles;
  stop(): void;
}

/** As a real server with `--authorization-mode=Node,RBAC`: who is refused by all has not been allowed by any. */
export const rolesAndNodes = (api: Api): Authorization => {
  const graph = nodeGraph(api);
  const book = roleBook(api);
  const authorizers = [nodeAuthorizer(graph, nodeRules), roleAuthorizer(book)];
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

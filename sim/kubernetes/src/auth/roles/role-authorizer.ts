import type { Authorizer } from '../authorizer.ts';
import { ruleAllows } from './policy-rule.ts';
import type { RoleBook } from './role-book.ts';

/** As the real server joins what went wrong: every sentence once. */
export const joinProblems = (problems: readonly string[]): string => {
  const different = [...new Set(problems)];
  return different.length === 1 ? (different[0] ?? '') : `[${different.join(', ')}]`;
};

/** Allows what a role says that is bound to the user; about the rest it has no opinion but the roles it could not find. */
export const roleAuthorizer =
  (book: RoleBook): Authorizer =>
  (attributes) => {
    const { user, namespace } = attributes;
    const problems: string[] = [];
    for (const where of namespace === '' ? [''] : ['', namespace]) {
      const held = book.grantsIn(user, where);
      for (const { rule, source } of held.on(attributes.verb)) {
        if (ruleAllows(rule, attributes)) return { allowed: true, reason: `RBAC: allowed by ${source}` };
      }
      problems.push(...held.problems);
    }
    return { allowed: false, reason: problems.length === 0 ? '' : `RBAC: ${joinProblems(problems)}` };
  };

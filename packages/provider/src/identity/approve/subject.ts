import { nodesGroup, nodeUser } from '../names.ts';
import type { RequestedCertificate } from './certificate-request.ts';

/** The subject of that Node: one organisation, one common name, in any order, and nothing besides. */
export const hasSubjectOf = ({ subject }: RequestedCertificate, nodeName: string): boolean =>
  subject.length === 2 &&
  subject.some(({ type, text }) => type === 'O' && text === nodesGroup) &&
  subject.some(({ type, text }) => type === 'CN' && text === nodeUser(nodeName));

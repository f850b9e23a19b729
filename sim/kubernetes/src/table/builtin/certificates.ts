import { ageColumn, ageOf, column, type Columns, nameColumn, nameOf, span } from '../columns.ts';
import { at, count, list, or, text } from '../fields.ts';

/** A denial outweighs an approval; failure and certificate are added to either. */
const condition = (request: unknown): string => {
  const types = new Set(list(request, 'status', 'conditions').map((entry) => entry['type']));
  const decision = types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending';
  const failed = types.has('Failed') ? ',Failed' : '';
  const issued = text(request, 'status', 'certificate') === '' ? '' : ',Issued';
  return `${decision}${failed}${issued}`;
};

const requestedDuration = (request: unknown): string =>
  at(request, 'spec', 'expirationSeconds') === undefined
    ? '<none>'
    : span(count(request, 'spec', 'expirationSeconds') * 1000);

export const certificateSigningRequests: Columns = {
  definitions: [
    nameColumn,
    ageColumn,
    column('SignerName'),
    column('Requestor'),
    column('RequestedDuration'),
    column('Condition'),
  ],
  cells: (request, now) => [
    nameOf(request),
    ageOf(request, now),
    or(text(request, 'spec', 'signerName'), '<none>'),
    text(request, 'spec', 'username'),
    requestedDuration(request),
    condition(request),
  ],
};

import { type Cause, invalid, required, tooLong } from '../status/cause.ts';

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/** The first part between dots that is not a label, with every text about it. */
const partCauses = (field: string, value: string, maximum: number, text: string): Cause[] => {
  const wrong = value.split('.').find((part) => part.length > maximum || !label.test(part));
  if (wrong === undefined) return [];
  const texts = [
    ...(wrong.length > maximum ? [`must be no more than ${maximum} bytes`] : []),
    ...(label.test(wrong) ? [] : [text]),
  ];
  return texts.map((each) => invalid(field, value, `validating label ${JSON.stringify(wrong)}: ${each}`));
};

/** `example.com/signer-name`. */
export const signerNameCauses = (field: string, name: string): Cause[] => {
  if (name === '') return [required(field)];
  const [domain = '', path = '', ...more] = name.split('/');
  if (!name.includes('/') || more.length > 0) {
    return [invalid(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  }
  return [
    ...(domain.length > 253 ? [tooLong(field, 253)] : []),
    ...partCauses(field, domain, 63, labelText),
    ...(domain.includes('.')
      ? []
      : [invalid(field, domain, 'should be a domain with at least two segments separated by dots')]),
    ...partCauses(field, path, 253, subdomainText),
    // A domain, a slash, and a path into which a namespace, a dot and a name fit.
    ...(name.length > 571 ? [tooLong(field, 571)] : []),
  ];
};

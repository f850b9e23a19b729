import { labelProblems } from '../schema/names.ts';
import { type Cause, forbidden, invalid, notSupported, required } from '../status/cause.ts';
import type { Definition } from './definition.ts';

export const oneOf = (value: string | undefined, allowed: readonly string[], field: string): Cause[] => {
  if (!value) return [required(field)];
  return allowed.includes(value) ? [] : [notSupported(field, value, allowed)];
};

const validateReviewVersions = (versions: readonly string[], field: string): Cause[] => {
  if (versions.length === 0) return [required(field)];
  const known = versions.some((version) => version === 'v1' || version === 'v1beta1');
  return [
    ...versions.flatMap((version, index) =>
      versions.indexOf(version) < index
        ? [invalid(`${field}[${index}]`, version, 'duplicate version')]
        : labelProblems(version).map((text) => invalid(`${field}[${index}]`, version, text)),
    ),
    ...(known ? [] : [invalid(field, [...versions], 'must include at least one of v1, v1beta1')]),
  ];
};

/** How objects get from one version to another. The real server holds the parts of `webhook` under other names, and says those. */
export const validateConversion = (conversion: Definition['spec']['conversion']): Cause[] => {
  if (!conversion) return [];
  const client = 'spec.conversion.webhookClientConfig';
  const reviews = 'spec.conversion.conversionReviewVersions';
  const { strategy, webhook } = conversion;
  const versions = webhook?.conversionReviewVersions ?? [];
  const causes = oneOf(strategy, ['None', 'Webhook'], 'spec.conversion.strategy');
  if (strategy !== 'Webhook') {
    const text = 'should not be set when strategy is not set to Webhook';
    if (webhook?.clientConfig) causes.push(forbidden(client, text));
    if (versions.length > 0) causes.push(forbidden(reviews, text));
    return causes;
  }
  if (!webhook?.clientConfig) causes.push(required(client, 'required when strategy is set to Webhook'));
  else if ((webhook.clientConfig.url === undefined) === (webhook.clientConfig.service === undefined)) {
    causes.push(required(client, 'exactly one of url or service is required'));
  }
  return [...causes, ...validateReviewVersions(versions, reviews)];
};

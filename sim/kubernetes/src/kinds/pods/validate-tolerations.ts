import { equal } from '../../object.ts';
import { type Cause, forbidden, invalid, notSupported } from '../../status/cause.ts';
import { type Fields, objectsOf, textOf } from '../fields.ts';
import { qualifiedName, validLabelValue } from '../names.ts';

export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

const validateOperator = (toleration: Fields, path: string): Cause[] => {
  const value = textOf(toleration['value']);
  const operator = textOf(toleration['operator']);
  switch (operator) {
    case '':
    case 'Equal': {
      const problems = validLabelValue(value);
      return problems.length > 0 ? [invalid(`${path}.operator`, value, problems.join(';'))] : [];
    }
    case 'Exists':
      return value === ''
        ? []
        : [invalid(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'")];
    case 'Lt':
    case 'Gt':
      return [notSupported(`${path}.operator`, operator, ['Equal', 'Exists', 'Lt', 'Gt'])];
    default:
      return [notSupported(`${path}.operator`, operator, ['Equal', 'Exists'])];
  }
};

export const validateTolerations = (value: unknown, path: string): Cause[] =>
  objectsOf(value).flatMap((toleration, index) => {
    const at = `${path}[${index}]`;
    const key = textOf(toleration['key']);
    const operator = textOf(toleration['operator']);
    const effect = textOf(toleration['effect']);
    return [
      ...(key === '' ? [] : qualifiedName(key).map((text) => invalid(`${at}.key`, key, text))),
      ...(key === '' && operator !== 'Exists'
        ? [
            invalid(
              `${at}.operator`,
              operator,
              'operator must be Exists when `key` is empty, which means "match all values and all keys"',
            ),
          ]
        : []),
      ...(toleration['tolerationSeconds'] !== undefined && effect !== 'NoExecute'
        ? [invalid(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")]
        : []),
      ...validateOperator(toleration, at),
      ...(effect === '' || taintEffects.includes(effect) ? [] : [notSupported(`${at}.effect`, effect, taintEffects)]),
    ];
  });

/** Tolerations may be added; of those that are there only the seconds may change. */
export const validateTolerationUpdate = (value: unknown, old: unknown, path: string): Cause[] => {
  const withoutSeconds = (toleration: Fields): Fields => ({ ...toleration, tolerationSeconds: undefined });
  const next = objectsOf(value).map(withoutSeconds);
  const kept = objectsOf(old)
    .map(withoutSeconds)
    .every((before) => next.some((toleration) => equal(toleration, before)));
  if (!kept) return [forbidden(path, 'existing toleration can not be modified except its tolerationSeconds')];
  return validateTolerations(value, path);
};

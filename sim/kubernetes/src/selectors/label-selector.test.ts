import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../errors/api-error.ts';
import { type LabelRequirement, printLabelSelector } from './label-requirement.ts';
import { labelSelectorMatches, parseLabelRequirements, parseLabelSelector } from './label-selector.ts';

const nameRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const valueRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const prefixRule =
  "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const keyRule = `a valid label key ${nameRule.replace('name part ', '')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;
const long = 'x'.repeat(64);

const refusals: [string, string][] = [
  ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ['a constructor b', "unable to parse requirement: found 'constructor', expected: in, notin, =, ==, !=, gt, lt"],
  ['a in', "unable to parse requirement: found '' expected: '('"],
  ['a in b', "unable to parse requirement: found 'b' expected: '('"],
  ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
  ['a in (b c)', "unable to parse requirement: found 'c', expected: ',' or ')'"],
  ['a in (b,=)', "unable to parse requirement: found '=', expected: ',', or identifier"],
  ['a in (=)', "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
  ['!', "unable to parse requirement: found '', expected: identifier"],
  ['!!a', "unable to parse requirement: found '!', expected: identifier"],
  ['a=b c', "found 'c', expected: ',' or 'end of string'"],
  ['a,', "found '', expected: identifier after ','"],
  ['a,,b', "found ',', expected: identifier after ','"],
  [',a', "found ',', expected: !, identifier, or 'end of string'"],
  ['=b', "found '=', expected: !, identifier, or 'end of string'"],
  ['(((', "found '(', expected: !, identifier, or 'end of string'"],
  ['a)', "unable to parse requirement: found ')', expected: in, notin, =, ==, !=, gt, lt"],
  ['a!b', "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"],
  ['!a=b', "found '=', expected: ',' or 'end of string'"],
  ['a= =b', "unable to parse requirement: found '=', expected: identifier"],
  ['a===b', "unable to parse requirement: found '=', expected: identifier"],
  ['a!==b', "unable to parse requirement: found '=', expected: identifier"],
  ['a>=5', "unable to parse requirement: found '=', expected: identifier"],
  [
    'a>b',
    `unable to parse requirement: values[0]: Invalid value: "b": for 'Gt', 'Lt' operators, the value must be an integer`,
  ],
  [
    'a<',
    `unable to parse requirement: values[0]: Invalid value: "": for 'Gt', 'Lt' operators, the value must be an integer`,
  ],
  [
    'a<9223372036854775808',
    `unable to parse requirement: values[0]: Invalid value: "9223372036854775808": for 'Gt', 'Lt' operators, the value must be an integer`,
  ],
  ['a<-1', `unable to parse requirement: values[0][a]: Invalid value: "-1": ${valueRule}`],
  ['a=$', `unable to parse requirement: values[0][a]: Invalid value: "$": ${valueRule}`],
  [`a=${long}`, `unable to parse requirement: values[0][a]: Invalid value: "${long}": must be no more than 63 bytes`],
  ['a in (b,-)', `unable to parse requirement: values[0][a]: Invalid value: "-": ${valueRule}`],
  [
    'a in (b,$,%)',
    `unable to parse requirement: [values[0][a]: Invalid value: "$": ${valueRule}, values[1][a]: Invalid value: "%": ${valueRule}]`,
  ],
  ['a$=b', `unable to parse requirement: <nil>: Invalid value: "a$": ${nameRule}`],
  ['ä', `unable to parse requirement: <nil>: Invalid value: "ä": ${nameRule}`],
  [long, `unable to parse requirement: <nil>: Invalid value: "${long}": name part must be no more than 63 bytes`],
  ['x/', `unable to parse requirement: <nil>: Invalid value: "x/": name part must be non-empty; ${nameRule}`],
  ['/x', 'unable to parse requirement: <nil>: Invalid value: "/x": prefix part must be non-empty'],
  ['UP.com/a', `unable to parse requirement: <nil>: Invalid value: "UP.com/a": ${prefixRule}`],
  ['A/b/c', `unable to parse requirement: <nil>: Invalid value: "A/b/c": ${keyRule}`],
];

for (const [text, message] of refusals) {
  test(`the label selector ${JSON.stringify(text)} is refused with the message of the real server`, () => {
    assert.throws(
      () => parseLabelSelector(text),
      (error) => error instanceof ApiError && error.code === 400 && error.message === message,
    );
  });
}

const labels = { a: '1', b: 'two', 'example.com/c': '', in: 'notin' };
const matches: [string, boolean][] = [
  ['', true],
  ['  ', true],
  ['a', true],
  ['x', false],
  ['!x', true],
  ['! a', false],
  ['a=1', true],
  ['a==1', true],
  ['a = 1 , b == two', true],
  ['a=1,b=three', false],
  ['a!=1', false],
  ['a!=2', true],
  ['x!=1', true],
  ['a in (1,2)', true],
  ['a in (2)', false],
  ['x in (1)', false],
  ['a notin (1)', false],
  ['a notin (2)', true],
  ['x notin (1)', true],
  ['example.com/c=', true],
  ['example.com/c', true],
  ['example.com/c in ()', true],
  ['example.com/c in (,x)', true],
  ['example.com/c in (x,)', true],
  ['a in (,)', false],
  ['in in (in,notin)', true],
  ['a>0', true],
  ['a>1', false],
  ['a<2', true],
  ['b>0', false],
  ['x<5', false],
  ['toString', false],
  ['!constructor', true],
];

for (const [text, expected] of matches) {
  test(`the label selector ${JSON.stringify(text)} ${expected ? 'matches' : 'does not match'}`, () => {
    assert.equal(parseLabelSelector(text)(labels), expected);
  });
}

test('an object without labels matches a requirement of absence', () => {
  assert.equal(parseLabelSelector('!a,b!=x')(undefined), true);
  assert.equal(parseLabelSelector('a')(undefined), false);
});

// With a prototype, so that a strict comparison with the parser's result can succeed.
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true });

const key = fc.constantFrom('a', 'in', 'notin', 'app.kubernetes.io/name', 'x_y.z-1', '0');
const value = fc.constantFrom('', 'v', 'in', 'notin', 'V_1.2-3', '007');
const one = value.map((entry) => [entry]);
const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
  record({ key, operator: fc.constantFrom('=' as const, '==' as const, '!=' as const), values: one }),
  record({
    key,
    operator: fc.constantFrom('in' as const, 'notin' as const),
    values: fc.uniqueArray(value, { minLength: 1 }).map((values) => values.sort()),
  }),
  record({ key, operator: fc.constantFrom('exists' as const, '!' as const), values: fc.constant([]) }),
  record({ key, operator: fc.constantFrom('gt' as const, 'lt' as const), values: fc.constantFrom(['0'], ['42']) }),
);

test('a printed selector parses to the same requirements', () => {
  fc.assert(
    fc.property(fc.array(requirement), (requirements) => {
      assert.deepEqual(parseLabelRequirements(printLabelSelector(requirements)), requirements);
    }),
  );
});

test('for any text, the label parser throws only ApiError', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(fc.constantFrom('a', '!', '=', '(', ')', ',', '<', '>', ' ', 'in', 'notin', '$'))
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (selector) => {
      try {
        parseLabelSelector(selector)({ a: '1' });
      } catch (error) {
        assert.ok(error instanceof ApiError);
      }
    }),
    { numRuns: 500 },
  );
});

const objects: [Parameters<typeof labelSelectorMatches>[0], boolean][] = [
  [{}, true],
  [{ matchLabels: { a: '1' } }, true],
  [{ matchLabels: { a: '1', b: 'x' } }, false],
  [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['1', '2'] }] }, true],
  [{ matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['1'] }] }, false],
  [{ matchExpressions: [{ key: 'x', operator: 'NotIn', values: ['1'] }] }, true],
  [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }, true],
  [{ matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] }, false],
  [{ matchLabels: { a: '1' }, matchExpressions: [{ key: 'x', operator: 'Exists' }] }, false],
];

for (const [selector, expected] of objects) {
  test(`the selector ${JSON.stringify(selector)} ${expected ? 'matches' : 'does not match'}`, () => {
    assert.equal(labelSelectorMatches(selector, labels), expected);
  });
}

test('an unknown operator is refused', () => {
  assert.throws(
    () => labelSelectorMatches({ matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] }, labels),
    /"Gt" is not a valid label selector operator/,
  );
});

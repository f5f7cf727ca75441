/* Functions that exported C files are made of, each written only where it is called, after those that it calls. */

/* The number of a word among those that are known, -1 if it is not; a missing one is NULL. */
static double mercer_word_level(const char *word, const char *const *known, int count, int missing)
{
    int k;
    for (k = 0; word && k < count; k++)
        if (known[k] && strcmp(word, known[k]) == 0)
            return k;
    return word ? -1 : missing;
}

/* The number of a number among those that are known, -1 if it is not; a missing one is NAN. */
static double mercer_number_level(double number, const double *known, int count, int missing)
{
    int k;
    for (k = 0; k < count; k++)
        if (number == known[k])
            return k;
    return isnan(number) ? missing : -1;
}

/* Whether a number is missing: NAN, or another marker. */
static int mercer_is_gap(double x, double marker)
{
    return isnan(marker) ? isnan(x) : x == marker;
}

/* 1 for what is not negative, else -1; NAN stays what it is. */
static double mercer_sign(double x)
{
    return isnan(x) ? x : x >= 0 ? 1.0 : -1.0;
}

/* The larger number; NAN, where one is. */
static double mercer_maximum(double x, double y)
{
    return x > y || isnan(x) ? x : y;
}

/* 1/sqrt(square), and 0 where the square is 0. */
static double mercer_inverse_length(double square)
{
    return square > 0 ? 1 / sqrt(square) : 0.0;
}

/* The pairs that each class wins, and a fraction below one half that says by how much. */
static void mercer_pair_votes(const double *scores, int classes, double *votes, double *lead)
{
    int first, second, pair = 0;
    for (first = 0; first < classes; first++)
        votes[first] = lead[first] = 0.0;
    for (first = 0; first < classes; first++)
        for (second = first + 1; second < classes; second++, pair++) {
            votes[scores[pair] >= 0 ? second : first] += 1.0;
            lead[second] += scores[pair];
            lead[first] -= scores[pair];
        }
    for (first = 0; first < classes; first++)
        votes[first] += lead[first] / (3 * (fabs(lead[first]) + 1));
}

/* The same numbers in increasing order. */
static void mercer_sort(double *values, int count)
{
    int i, k;
    for (i = 1; i < count; i++) {
        const double value = values[i];
        for (k = i; k > 0 && values[k - 1] > value; k--)
            values[k] = values[k - 1];
        values[k] = value;
    }
}

/* 1/(1 + exp(-x)), not nearer to 0 and 1 than the bound. */
static double mercer_logistic(double x, double bound)
{
    const double small = exp(-fabs(x));
    const double p = (x >= 0 ? 1.0 : small) / (1.0 + small);
    return p < bound ? bound : p > 1 - bound ? 1 - bound : p;
}

/* exp(x) in shares of their sum. */
static void mercer_softmax(const double *x, int count, double *out)
{
    double largest = x[0], sum = 0.0;
    int k;
    for (k = 1; k < count; k++)
        largest = x[k] > largest ? x[k] : largest;
    for (k = 0; k < count; k++)
        sum += out[k] = exp(x[k] - largest);
    for (k = 0; k < count; k++)
        out[k] /= sum;
}

/* Straight lines through points, level beyond them. */
static double mercer_interpolated(double x, const double *points, const double *values, int count)
{
    int low = 0, high = count - 1;
    if (isnan(x))
        return x;
    if (x < points[low])
        return values[low];
    if (x >= points[high])
        return values[high];
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (points[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return (values[high] - values[low]) / (points[high] - points[low]) * (x - points[low]) + values[low];
}

/* The value of the gap between two points, or of the point, that x is in. */
static double mercer_staircase(double x, const double *points, const double *values, int count)
{
    int k, place = 0;
    if (isnan(x))
        return x;
    for (k = 0; k < count && points[k] <= x; k++)
        place += points[k] < x ? 2 : 1;
    return values[place];
}

/* Positive numbers in shares of their sum. */
static void mercer_to_one(const double *x, int count, double *out)
{
    double sum = 0.0;
    int k;
    for (k = 0; k < count; k++)
        sum += out[k] = x[k] < DBL_EPSILON ? DBL_EPSILON : x[k];
    for (k = 0; k < count; k++)
        out[k] /= sum;
}

/* The probabilities of classes nearest to those of pairs: Q p = mu with a sum of 1 (Wu, Lin and Weng, 2004), solved by
   elimination with pivots. The system has classes + 1 rows of classes + 2 numbers. */
static void mercer_coupled(const double *second, int classes, double *system, double *out)
{
    const int n = classes + 1, width = n + 1;
    int i, j, k, pair = 0;
    for (k = 0; k < n * width; k++)
        system[k] = 0.0;
    for (i = 0; i < classes; i++)
        for (j = i + 1; j < classes; j++, pair++) {
            const double of_j = second[pair], of_i = 1 - of_j;
            system[i * width + i] += of_j * of_j;
            system[j * width + j] += of_i * of_i;
            system[i * width + j] = system[j * width + i] = -of_j * of_i;
        }
    for (i = 0; i < classes; i++)
        system[i * width + classes] = system[classes * width + i] = 1.0;
    system[classes * width + n] = 1.0;
    for (k = 0; k < n; k++) {
        int pivot = k;
        for (i = k + 1; i < n; i++)
            if (fabs(system[i * width + k]) > fabs(system[pivot * width + k]))
                pivot = i;
        for (j = k; j < width; j++) {
            const double held = system[k * width + j];
            system[k * width + j] = system[pivot * width + j];
            system[pivot * width + j] = held;
        }
        for (i = k + 1; i < n; i++) {
            const double factor = system[i * width + k] / system[k * width + k];
            for (j = k; j < width; j++)
                system[i * width + j] -= factor * system[k * width + j];
        }
    }
    for (k = n - 1; k >= 0; k--) {
        for (j = k + 1; j < n; j++)
            system[k * width + n] -= system[k * width + j] * system[j * width + n];
        system[k * width + n] /= system[k * width + k];
    }
    for (k = 0; k < classes; k++)
        out[k] = system[k * width + n];
    mercer_to_one(out, classes, out);
}

/* Whether all numbers are finite. */
static int mercer_finite(const double *values, int count)
{
    int k;
    for (k = 0; k < count; k++)
        if (!isfinite(values[k]))
            return 0;
    return 1;
}

/* Whether a number is infinite. */
static int mercer_infinite(const double *values, int count)
{
    int k;
    for (k = 0; k < count; k++)
        if (isinf(values[k]))
            return 1;
    return 0;
}

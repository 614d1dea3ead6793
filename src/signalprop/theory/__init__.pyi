from ..limits.spectrum_maps import (
    expected_spectrum as expected_spectrum,
)
from ..limits.spectrum_maps import (
    infinite_width_path as infinite_width_path,
)
from . import conditioning as conditioning
from . import decomposed as decomposed
from . import gradients as gradients
from . import isometry as isometry
from . import kernels as kernels
from . import meanfield as meanfield
from . import orthogonality as orthogonality
from . import rank as rank
from .conditioning.assumptions import (
    cond_assumption_a as cond_assumption_a,
)
from .conditioning.assumptions import (
    cond_assumption_b as cond_assumption_b,
)
from .conditioning.coefficient import (
    cond_mu as cond_mu,
)
from .conditioning.coefficient import (
    cond_norm_relu_mu as cond_norm_relu_mu,
)
from .conditioning.decay import (
    cond_b as cond_b,
)
from .conditioning.decay import (
    cond_l_0 as cond_l_0,
)
from .conditioning.decay import (
    cond_l_1 as cond_l_1,
)
from .conditioning.decay import (
    cond_l_2 as cond_l_2,
)
from .conditioning.decay import (
    cond_sharpest as cond_sharpest,
)
from .conditioning.interpolation import (
    cond_lemma_54 as cond_lemma_54,
)
from .conditioning.interpolation import (
    cond_lemma_54_sharper as cond_lemma_54_sharper,
)
from .conditioning.interpolation import (
    cond_theorem_16 as cond_theorem_16,
)
from .conditioning.interpolation import (
    cond_theorem_16_depth as cond_theorem_16_depth,
)
from .conditioning.interpolation import (
    cond_theorem_16_given as cond_theorem_16_given,
)
from .conditioning.norm_convergence import (
    cond_theorem_37 as cond_theorem_37,
)
from .conditioning.norm_convergence import (
    cond_theorem_37_alpha as cond_theorem_37_alpha,
)
from .conditioning.one_layer import (
    cond_note_56 as cond_note_56,
)
from .conditioning.one_layer import (
    cond_relu_weights as cond_relu_weights,
)
from .conditioning.one_layer import (
    cond_theorem_56 as cond_theorem_56,
)
from .conditioning.one_layer import (
    cond_theorem_58_floor as cond_theorem_58_floor,
)
from .conditioning.shifted_relu import (
    cond_equation_4_scale as cond_equation_4_scale,
)
from .conditioning.shifted_relu import (
    cond_equation_4_shift as cond_equation_4_shift,
)
from .conditioning.shifted_relu import (
    cond_norm_relu_bias as cond_norm_relu_bias,
)
from .conditioning.shifted_relu import (
    cond_norm_relu_length as cond_norm_relu_length,
)
from .conditioning.shifted_relu import (
    cond_norm_relu_length_slope as cond_norm_relu_length_slope,
)
from .conditioning.shifted_relu import (
    cond_norm_relu_mean as cond_norm_relu_mean,
)
from .conditioning.tangent_kernel import (
    cond_corollary_6 as cond_corollary_6,
)
from .conditioning.tangent_kernel import (
    cond_corollary_6_proven as cond_corollary_6_proven,
)
from .conditioning.tangent_kernel import (
    cond_corollary_10 as cond_corollary_10,
)
from .conditioning.tangent_kernel import (
    cond_equation_7 as cond_equation_7,
)
from .conditioning.tangent_kernel import (
    cond_lemma_26 as cond_lemma_26,
)
from .conditioning.tangent_kernel import (
    cond_lemma_26_sharper as cond_lemma_26_sharper,
)
from .conditioning.tangent_kernel import (
    cond_tangent as cond_tangent,
)
from .conditioning.tangent_kernel import (
    cond_tangent_sharpest as cond_tangent_sharpest,
)
from .conditioning.tangent_kernel import (
    cond_theorem_5 as cond_theorem_5,
)
from .conditioning.tangent_kernel import (
    cond_theorem_5_diagonal as cond_theorem_5_diagonal,
)
from .conditioning.top_layer import (
    cond_corollary_4 as cond_corollary_4,
)
from .conditioning.top_layer import (
    cond_corollary_4_sharper as cond_corollary_4_sharper,
)
from .conditioning.top_layer import (
    cond_corollary_8 as cond_corollary_8,
)
from .conditioning.top_layer import (
    cond_corollary_8_sharper as cond_corollary_8_sharper,
)
from .conditioning.top_layer import (
    cond_lemma_43 as cond_lemma_43,
)
from .conditioning.uncentred import (
    cond_lemma_35_l_0 as cond_lemma_35_l_0,
)
from .conditioning.uncentred import (
    cond_lemma_35_sharper as cond_lemma_35_sharper,
)
from .conditioning.uncentred import (
    cond_lemma_36_l_0 as cond_lemma_36_l_0,
)
from .conditioning.uncentred import (
    cond_lemma_36_sharper as cond_lemma_36_sharper,
)
from .conditioning.uncentred import (
    cond_until_positive as cond_until_positive,
)
from .conditioning.unequal_norms import (
    cond_lemma_41 as cond_lemma_41,
)
from .conditioning.unequal_norms import (
    cond_lemma_41_sharper as cond_lemma_41_sharper,
)
from .conditioning.unequal_norms import (
    cond_theorem_42 as cond_theorem_42,
)
from .conditioning.unequal_norms import (
    cond_theorem_42_depth as cond_theorem_42_depth,
)
from .conditioning.unequal_norms import (
    cond_theorem_42_sharper as cond_theorem_42_sharper,
)
from .decomposed.full_rank import (
    dec_corollary_4 as dec_corollary_4,
)
from .decomposed.full_rank import (
    dec_equation_7a as dec_equation_7a,
)
from .decomposed.full_rank import (
    dec_equation_7b as dec_equation_7b,
)
from .decomposed.full_rank import (
    dec_theorem_3 as dec_theorem_3,
)
from .decomposed.infinite_width import (
    dec_infinite_width_map as dec_infinite_width_map,
)
from .decomposed.infinite_width import (
    dec_kernel as dec_kernel,
)
from .decomposed.invariant import (
    dec_invariant_radius as dec_invariant_radius,
)
from .decomposed.invariant import (
    dec_theorem_13_alpha as dec_theorem_13_alpha,
)
from .decomposed.invariant import (
    dec_theorem_14_alpha as dec_theorem_14_alpha,
)
from .decomposed.tree import (
    dec_contribution as dec_contribution,
)
from .decomposed.tree import (
    dec_equation_62 as dec_equation_62,
)
from .decomposed.tree import (
    dec_growth as dec_growth,
)
from .decomposed.tree import (
    dec_theorem_11_angle as dec_theorem_11_angle,
)
from .decomposed.tree import (
    dec_theorem_11_norms as dec_theorem_11_norms,
)
from .decomposed.tree import (
    dec_tree_angles as dec_tree_angles,
)
from .decomposed.tree import (
    dec_tree_norms as dec_tree_norms,
)
from .gradients.bounds import (
    grad_lemma_c_12 as grad_lemma_c_12,
)
from .gradients.bounds import (
    grad_lemma_c_13 as grad_lemma_c_13,
)
from .gradients.bounds import (
    grad_theorem_6_5 as grad_theorem_6_5,
)
from .gradients.falling_gap import (
    grad_equation_c_73 as grad_equation_c_73,
)
from .gradients.falling_gap import (
    grad_lemma_c_9 as grad_lemma_c_9,
)
from .gradients.falling_gap import (
    grad_lemma_c_14 as grad_lemma_c_14,
)
from .gradients.falling_gap import (
    grad_lemma_c_15 as grad_lemma_c_15,
)
from .gradients.falling_gap import (
    grad_theorem_6_1 as grad_theorem_6_1,
)
from .gradients.one_step import (
    grad_equation_c_35 as grad_equation_c_35,
)
from .gradients.one_step import (
    grad_equation_c_39 as grad_equation_c_39,
)
from .gradients.one_step import (
    grad_moments as grad_moments,
)
from .gradients.one_step import (
    grad_theorem_6_3 as grad_theorem_6_3,
)
from .isometry.bias import (
    iso_corollary_4_5 as iso_corollary_4_5,
)
from .isometry.bias import (
    iso_equation_4_6 as iso_equation_4_6,
)
from .isometry.bias import (
    iso_figure_4_1 as iso_figure_4_1,
)
from .isometry.bias import (
    iso_normalization_gain as iso_normalization_gain,
)
from .isometry.bias import (
    iso_recentring_gain as iso_recentring_gain,
)
from .isometry.bias import (
    iso_theorem_4_3 as iso_theorem_4_3,
)
from .kernels.centred import (
    ker_corollary_5_10 as ker_corollary_5_10,
)
from .kernels.centred import (
    ker_corollary_5_10_repaired as ker_corollary_5_10_repaired,
)
from .kernels.centred import (
    ker_potential as ker_potential,
)
from .kernels.centred import (
    ker_theorem_5_8 as ker_theorem_5_8,
)
from .kernels.centred import (
    ker_theorem_5_8_alpha as ker_theorem_5_8_alpha,
)
from .kernels.four_cases import (
    ker_theorem_5_11_1 as ker_theorem_5_11_1,
)
from .kernels.four_cases import (
    ker_theorem_5_11_2 as ker_theorem_5_11_2,
)
from .kernels.four_cases import (
    ker_theorem_5_11_3 as ker_theorem_5_11_3,
)
from .kernels.four_cases import (
    ker_theorem_5_11_3_sharper as ker_theorem_5_11_3_sharper,
)
from .kernels.four_cases import (
    ker_theorem_5_11_4 as ker_theorem_5_11_4,
)
from .kernels.four_cases import (
    ker_theorem_5_11_4_alphas as ker_theorem_5_11_4_alphas,
)
from .kernels.four_cases import (
    ker_theorem_5_11_4_repaired as ker_theorem_5_11_4_repaired,
)
from .kernels.four_cases import (
    ker_theorem_5_11_case as ker_theorem_5_11_case,
)
from .kernels.mehler import (
    hermite_tail as hermite_tail,
)
from .kernels.mehler import (
    mehler_kernel as mehler_kernel,
)
from .kernels.normalization import (
    ker_theorem_5_15 as ker_theorem_5_15,
)
from .kernels.normalization import (
    ker_theorem_5_15_alpha as ker_theorem_5_15_alpha,
)
from .kernels.normalization import (
    ker_theorem_5_15_alpha_repaired as ker_theorem_5_15_alpha_repaired,
)
from .meanfield.concentration import (
    mf_equation_b_13 as mf_equation_b_13,
)
from .meanfield.concentration import (
    mf_equation_b_14 as mf_equation_b_14,
)
from .meanfield.concentration import (
    mf_lemma_b_1 as mf_lemma_b_1,
)
from .meanfield.concentration import (
    mf_lemma_b_2 as mf_lemma_b_2,
)
from .meanfield.concentration import (
    mf_linear_moments as mf_linear_moments,
)
from .meanfield.convergence import (
    mf_equation_3_8 as mf_equation_3_8,
)
from .meanfield.convergence import (
    mf_equation_3_9 as mf_equation_3_9,
)
from .meanfield.convergence import (
    mf_lemma_3_3 as mf_lemma_3_3,
)
from .meanfield.convergence import (
    mf_lemma_b_3 as mf_lemma_b_3,
)
from .meanfield.convergence import (
    mf_lemma_b_4 as mf_lemma_b_4,
)
from .meanfield.convergence import (
    mf_lemma_b_5 as mf_lemma_b_5,
)
from .meanfield.convergence import (
    mf_lemma_b_7 as mf_lemma_b_7,
)
from .meanfield.convergence import (
    mf_theorem_3_2 as mf_theorem_3_2,
)
from .meanfield.convergence import (
    mf_theorem_b_6 as mf_theorem_b_6,
)
from .orthogonality.contraction import (
    constant_of_lemma_7 as constant_of_lemma_7,
)
from .orthogonality.contraction import (
    constant_of_lemma_8 as constant_of_lemma_8,
)
from .orthogonality.contraction import (
    one_step_variance as one_step_variance,
)
from .orthogonality.contraction import (
    orth_a1_violation as orth_a1_violation,
)
from .orthogonality.contraction import (
    orth_lemma_4 as orth_lemma_4,
)
from .orthogonality.contraction import (
    orth_lemma_4_sharp as orth_lemma_4_sharp,
)
from .orthogonality.contraction import (
    orth_lemma_8 as orth_lemma_8,
)
from .orthogonality.contraction import (
    orth_lemma_9 as orth_lemma_9,
)
from .orthogonality.contraction import (
    orth_lemma_10 as orth_lemma_10,
)
from .orthogonality.contraction import (
    orth_stability as orth_stability,
)
from .orthogonality.contraction import (
    orth_stability_repaired as orth_stability_repaired,
)
from .orthogonality.contraction import (
    orth_theorem_5 as orth_theorem_5,
)
from .orthogonality.gaussian_approximation import (
    gaussian_wasserstein as gaussian_wasserstein,
)
from .orthogonality.gaussian_approximation import (
    orth_corollary_3 as orth_corollary_3,
)
from .orthogonality.gaussian_approximation import (
    orth_corollary_3_repaired as orth_corollary_3_repaired,
)
from .orthogonality.gaussian_approximation import (
    orth_lemma_2 as orth_lemma_2,
)
from .orthogonality.gaussian_approximation import (
    stationary_wasserstein as stationary_wasserstein,
)
from .orthogonality.gaussian_approximation import (
    wasserstein_to_gaussian as wasserstein_to_gaussian,
)
from .orthogonality.main_theorem import (
    gap_of_spectrum as gap_of_spectrum,
)
from .orthogonality.main_theorem import (
    largest_gap as largest_gap,
)
from .orthogonality.main_theorem import (
    orth_theorem_1 as orth_theorem_1,
)
from .orthogonality.main_theorem import (
    orth_theorem_1_repaired as orth_theorem_1_repaired,
)
from .orthogonality.mixing import (
    dobrushin_coefficient as dobrushin_coefficient,
)
from .orthogonality.mixing import (
    stationary_law as stationary_law,
)
from .orthogonality.stationary import (
    contraction_at_orthogonality as contraction_at_orthogonality,
)
from .orthogonality.stationary import (
    stationary_cosine as stationary_cosine,
)
from .orthogonality.stationary import (
    stationary_gap as stationary_gap,
)
from .orthogonality.without_batch_norm import (
    log_distance_from_rank_one as log_distance_from_rank_one,
)
from .orthogonality.without_batch_norm import (
    lyapunov_exponents as lyapunov_exponents,
)
from .orthogonality.without_batch_norm import (
    vanilla_collapse_rate as vanilla_collapse_rate,
)
from .rank.aligned_gradients import (
    rank_one_alignment as rank_one_alignment,
)
from .rank.drift import (
    expected_frobenius as expected_frobenius,
)
from .rank.drift import (
    rank_example_14 as rank_example_14,
)
from .rank.drift import (
    rank_lemma_12 as rank_lemma_12,
)
from .rank.drift import (
    rank_proposition_13 as rank_proposition_13,
)
from .rank.odd_activations import (
    rank_lemma_20 as rank_lemma_20,
)
from .rank.odd_activations import (
    rank_theorem_5_step as rank_theorem_5_step,
)
from .rank.regularity_constant import (
    rank_example_17 as rank_example_17,
)
from .rank.regularity_constant import (
    rank_regularity as rank_regularity,
)
from .rank.regularity_constant import (
    rank_regularity_deficit as rank_regularity_deficit,
)
from .rank.square_root import (
    rank_lemma_2 as rank_lemma_2,
)
from .rank.square_root import (
    rank_lemma_18 as rank_lemma_18,
)
from .rank.square_root import (
    rank_theorem_3 as rank_theorem_3,
)
